import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LeasePart } from '../../../domain/planner/cell-event.ts'
import { identityIn, isAlive, textIn, type ProcessIdentity } from '../../../infra/host/claim-file.ts'
import type { Attempt } from '../sdk/attempt.ts'
import { JobLog } from './job-log.ts'

/** `absent`: nobody has begun to run it; `lost`: it runs no more, and nobody knows what it ended with. */
export type JobState = 'absent' | 'runs' | 'ended' | 'lost'

type Lease = ReadonlyArray<LeasePart>
type Kept = Attempt & { readonly lease: Lease }

/** One attempt of a job: a folder, in which its shell and we leave what has to be known by whoever comes after us. */
export class JobAttempt implements Attempt {
  readonly folder: string
  readonly workload: string
  readonly attempt: number
  readonly log: JobLog
  private held: Lease

  private constructor(folder: string, { attempt, lease, workload }: Kept) {
    this.folder = folder
    this.workload = workload
    this.attempt = attempt
    this.held = lease
    this.log = new JobLog(this.logFile)
  }

  /** As it is there, or new. @throws what the file system refuses */
  static in(folder: string, kept: Kept): JobAttempt {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const there = JobAttempt.at(folder)
    if (there !== null) return there
    const made = new JobAttempt(folder, kept)
    made.lease = kept.lease
    return made
  }

  /** Null: there is none in this folder. */
  static at(folder: string): JobAttempt | null {
    const text = textIn(join(folder, 'attempt.json'))
    try {
      return text === null ? null : new JobAttempt(folder, JSON.parse(text) as Kept)
    } catch {
      return null // A loss of power cut it off, and ended the job too.
    }
  }

  get logFile(): string {
    return join(this.folder, 'log')
  }

  get leaseFile(): string {
    return join(this.folder, 'attempt.json')
  }

  get lease(): Lease {
    return this.held
  }

  set lease(lease: Lease) {
    const { attempt, workload } = this
    const next = join(this.folder, 'attempt.next')
    writeFileSync(next, `${JSON.stringify({ workload, attempt, lease })}\n`, { mode: 0o600 })
    renameSync(next, this.leaseFile)
    this.held = lease
  }

  state(): JobState {
    const shell = textIn(join(this.folder, 'shell'))
    if (shell === null) return 'absent'
    if (this.exitCode() !== null) return 'ended'
    if ([identityIn(shell), this.job].some((one) => one !== null && isAlive(one))) return 'runs'
    // It may have been written between the two looks.
    return this.exitCode() === null ? 'lost' : 'ended'
  }

  /** Null: it has not ended, or nobody knows. */
  exitCode(): number | null {
    const text = textIn(join(this.folder, 'ended'))
    return text === null ? null : Number(text)
  }

  /** To the job alone, not to what it has started. False: it does not run, or not yet. */
  signal(signal: NodeJS.Signals): boolean {
    const { job } = this
    return job !== null && isAlive(job) && sent(job.pid, signal)
  }

  /** Ends it at once, and all that it has started. */
  kill(): void {
    const shell = identityIn(textIn(join(this.folder, 'shell')) ?? '')
    if (shell !== null && this.state() === 'runs') sent(-shell.pid, 'SIGKILL')
  }

  /** From now on no shell begins to run it that has not done so already. */
  forbid(): void {
    try {
      writeFileSync(join(this.folder, 'shell'), 'forbidden\n', { flag: 'wx', mode: 0o600 })
    } catch (cause) {
      if (!existsSync(join(this.folder, 'shell'))) throw cause
    }
  }

  /** When it was asked to stop for the first time, which is now if it was not before. */
  stopAskedAt(now: number): number {
    const path = join(this.folder, 'stopping')
    if (!existsSync(path)) writeFileSync(path, `${now}\n`, { mode: 0o600 })
    return Number(readFileSync(path, 'utf8'))
  }

  /** Whether everything that is to be said of it has been. */
  get isOver(): boolean {
    return existsSync(join(this.folder, 'over'))
  }

  open(): void {
    rmSync(join(this.folder, 'over'), { force: true })
  }

  close(): void {
    writeFileSync(join(this.folder, 'over'), '', { mode: 0o600 })
  }

  private get job(): ProcessIdentity | null {
    return identityIn(textIn(join(this.folder, 'job')) ?? '')
  }
}

/** False: it is gone. */
const sent = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
