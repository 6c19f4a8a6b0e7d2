import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../../../domain/planner/command.ts'
import { tokenOf } from '../../../infra/nats/subject.ts'
import type { Attempt } from '../sdk/attempt.ts'
import { JobAttempt } from './job-attempt.ts'

/**
 * Where the attempts of jobs are: `jobs/WORKLOAD/LIFE/ATTEMPT`. A life of a workload is named by when its first attempt was issued:
 * a name may come again, and what one life left behind is nothing to the next. `LIFE/state` is the life's own, for checkpoints.
 */
export class JobFolders {
  private readonly root: string

  constructor(folder: string) {
    this.root = join(folder, 'jobs')
  }

  /** Of a job that is to be started, made if it is not there. */
  start(command: Command): JobAttempt {
    const { attempt, issuedAt, workload } = command
    const latest = this.livesOf(workload).find((life) => life <= issuedAt)
    const life = attempt === 1 ? issuedAt : (latest ?? issuedAt)
    const folder = join(this.root, tokenOf(workload), String(life))
    mkdirSync(join(folder, 'state'), { recursive: true, mode: 0o700 })
    return JobAttempt.in(join(folder, String(attempt)), command)
  }

  /** Of the newest life that has it. */
  find({ attempt, workload }: Attempt): JobAttempt | null {
    for (const life of this.livesOf(workload)) {
      const found = JobAttempt.at(join(this.root, tokenOf(workload), String(life), String(attempt)))
      if (found !== null) return found
    }
    return null
  }

  /** All of which something is still to be said. */
  get open(): ReadonlyArray<JobAttempt> {
    return namesIn(this.root).flatMap((workload) =>
      namesIn(join(this.root, workload)).flatMap((life) => {
        const folder = join(this.root, workload, life)
        return namesIn(folder)
          .filter((name) => /^\d+$/.test(name))
          .map((attempt) => JobAttempt.at(join(folder, attempt)))
          .filter((attempt) => attempt !== null && !attempt.isOver)
      }),
    ) as ReadonlyArray<JobAttempt>
  }

  /** Newest first. */
  private livesOf(workload: string): ReadonlyArray<number> {
    return namesIn(join(this.root, tokenOf(workload)))
      .map(Number)
      .filter(Number.isSafeInteger)
      .sort((a, b) => b - a)
  }
}

const namesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
