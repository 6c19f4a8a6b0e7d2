import { setTimeout as pause } from 'node:timers/promises'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { Adapter } from '../sdk/adapter.ts'
import { attemptName } from '../sdk/attempt.ts'
import type { JobAttempt } from './job-attempt.ts'
import type { Jobs } from './jobs.ts'

const lookEveryMs = 100

interface Said {
  readonly progress: number
  readonly checkpoint: number
  readonly end: boolean
}

const nothing: Said = { progress: 0, checkpoint: 0, end: false }

/** Sees what jobs say of themselves and that they end, and has their adapter tell it. */
export class JobWatch {
  private readonly jobs: Jobs
  private readonly adapter: Adapter
  private readonly note: (line: string) => void
  private readonly said = new WeakMap<JobAttempt, Said>()
  private readonly stopping = new AbortController()
  private readonly running: Promise<void>

  constructor(jobs: Jobs, adapter: Adapter, note: (line: string) => void) {
    this.jobs = jobs
    this.adapter = adapter
    this.note = note
    jobs.look = (job) => this.look(job)
    this.running = this.run()
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.running
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      for (const job of this.jobs.open)
        // Seen again at the next look.
        await this.look(job).catch((cause: unknown) => {
          this.note(`${attemptName(job)}: ${cause instanceof Error ? cause.message : String(cause)}`)
        })
      await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  private async look(job: JobAttempt): Promise<void> {
    const state = job.state()
    job.log.read()
    const said = this.said.get(job) ?? nothing
    if (!this.adapter.running.has(attemptName(job))) {
      // Until its start has been concluded nothing of it can be told; after its end nothing is left to tell.
      if (said.end) this.jobs.forget(job)
      return
    }
    const at = Math.min(Date.now(), job.log.writtenAt) as EpochMs
    const ended = said.end || state === 'ended' || state === 'lost'
    const now = { progress: job.log.times('progress'), checkpoint: job.log.times('checkpoint'), end: ended }
    this.said.set(job, now)
    try {
      if (now.progress > said.progress) await this.adapter.progressed(job, at)
      if (now.checkpoint > said.checkpoint) await this.adapter.checkpointed(job, at)
      if (now.end && !said.end) await this.tellEnd(job)
    } catch (cause) {
      this.said.set(job, said)
      throw cause
    }
  }

  private async tellEnd(job: JobAttempt): Promise<void> {
    const exitCode = job.exitCode()
    const how = exitCode === null ? 'and nobody knows how' : `with exit code ${exitCode}`
    this.note(`${attemptName(job)} ended ${how}; its log: ${job.logFile}`)
    await this.adapter.ended(job, exitCode === 0 ? 'succeeded' : 'failed')
  }
}
