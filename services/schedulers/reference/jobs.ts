import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { either as E } from 'fp-ts'
import type { NodeSpec } from '../../../domain/fleet/fleet.ts'
import type { Command } from '../../../domain/planner/command.ts'
import type { CommandHandled } from '../../../domain/ports/command-source.ts'
import { attemptName, type Attempt } from '../sdk/attempt.ts'
import { done, failed, refused, type Handlers } from '../sdk/handlers.ts'
import { leaseObjection } from './held-devices.ts'
import type { JobAttempt } from './job-attempt.ts'
import { JobFolders } from './job-folders.ts'
import type { Saying } from './job-log.ts'
import { jobProgram } from './job-program.ts'
import { startShell } from './job-shell.ts'

export interface JobsOptions {
  /** Of the adapter: jobs, their logs and what they leave behind are in it. */
  readonly folder: string
  /** Where the programs of jobs are. */
  readonly programs: string
  readonly nodes: ReadonlyArray<NodeSpec>
}

const lookEveryMs = 20
/** A shell that has been started names itself within that time, and what was killed is gone. */
const promptMaxMs = 5_000
/** What a job can do it says when it comes up. */
const sayMaxMs = 2_000

/** Jobs that run as processes here, on a fleet that is pretended: what the commands ask, done to them. */
export class Jobs implements Handlers {
  private readonly options: JobsOptions
  private readonly folders: JobFolders
  private readonly nodes: ReadonlyMap<string, NodeSpec>
  /** Of which something is still to be said; by name. */
  private readonly attempts: Map<string, JobAttempt>
  private closed = false
  /** Has told what a job has said, before a command about it is concluded: of what is over nothing more can be told. */
  look: (job: JobAttempt) => Promise<void> = () => Promise.resolve()

  /** Finds what was started before, whether it runs or has ended meanwhile. */
  constructor(options: JobsOptions) {
    this.options = options
    this.folders = new JobFolders(options.folder)
    this.nodes = new Map(options.nodes.map((spec) => [spec.node, spec]))
    this.attempts = new Map(this.folders.open.map((job) => [attemptName(job), job]))
  }

  get open(): ReadonlyArray<JobAttempt> {
    return [...this.attempts.values()]
  }

  /** What is in hand is left as it is, for the next process to go on with. */
  close(): void {
    this.closed = true
  }

  /** Nothing more is to be said of it. */
  forget(job: JobAttempt): void {
    job.close()
    this.attempts.delete(attemptName(job))
  }

  readonly start = async (command: Command): Promise<CommandHandled> => {
    const program = jobProgram(this.options.programs, command)
    const job = this.begun(command)
    if (E.isLeft(job)) return failed(job.left)
    if (job.right.state() !== 'absent') return done
    if (E.isLeft(program)) return this.notStarted(job.right, program.left)
    try {
      await startShell(job.right.folder, program.right, environmentOf(command, job.right))
    } catch (cause) {
      return this.notStarted(job.right, cause instanceof Error ? cause.message : String(cause))
    }
    if (!(await this.within(promptMaxMs, () => job.right.state() !== 'absent')))
      throw new Error('its shell does not come up')
    return done
  }

  readonly checkpoint = (command: Command): Promise<CommandHandled> =>
    this.asked(command, { can: 'can checkpoint', signal: 'SIGUSR2', answer: 'checkpoint', what: 'make checkpoints' })

  readonly shrink = async (command: Command): Promise<CommandHandled> => {
    const job = this.find(command)
    if (job === null) return refused('it does not run')
    const before = job.lease
    job.lease = command.lease
    const asking = { can: 'can shrink', signal: 'SIGHUP', answer: 'shrunk', what: 'shrink' } as const
    const handled = await this.asked(command, asking)
    if (handled.outcome !== 'done') job.lease = before
    return handled
  }

  readonly stop = async (command: Command): Promise<CommandHandled> => {
    const job = this.find(command)
    if (job === null) return done
    // One that was killed in the middle of a start may have left a shell that is only now coming up.
    job.forbid()
    if (job.state() === 'runs') {
      if (command.because !== 'node-failed') await this.askToStop(job, command.graceMs)
      job.kill()
      if (!(await this.within(promptMaxMs, () => job.state() !== 'runs'))) throw new Error('it cannot be ended')
    }
    await this.look(job)
    this.forget(job)
    return done
  }

  private async askToStop(job: JobAttempt, graceMs: number): Promise<void> {
    const waitedMs = Math.max(0, Date.now() - job.stopAskedAt(Date.now()))
    const until = () => job.state() !== 'runs'
    if (!(await this.within(promptMaxMs, () => job.signal('SIGTERM') || until()))) return
    await this.within(Math.max(0, graceMs - waitedMs), until)
  }

  private async asked(
    command: Command,
    { answer, can, signal, what }: { can: Saying; signal: NodeJS.Signals; answer: Saying; what: string },
  ): Promise<CommandHandled> {
    const job = this.find(command)
    if (job?.state() !== 'runs') return refused('it does not run')
    const times = (saying: Saying) => {
      job.log.read()
      return job.log.times(saying)
    }
    // It may be just coming up.
    if (!(await this.within(sayMaxMs, () => times(can) > 0))) return refused(`its job does not ${what}`)
    const before = times(answer)
    job.signal(signal)
    const waitMaxMs = command.deadlineAt - command.issuedAt
    const answered = () => times(answer) > before
    await this.within(waitMaxMs, () => answered() || job.state() !== 'runs')
    await this.look(job)
    if (answered()) return done
    return failed(job.state() === 'runs' ? `its job did not answer in ${waitMaxMs} ms` : 'its job has ended')
  }

  /** Whether it comes to be so within that time. @throws when nobody waits for it any more */
  private async within(ms: number, holds: () => boolean): Promise<boolean> {
    const end = Date.now() + ms
    while (!holds()) {
      if (this.closed) throw new Error('the adapter is stopping')
      if (Date.now() > end) return false
      await pause(lookEveryMs)
    }
    return true
  }

  private find(attempt: Attempt): JobAttempt | null {
    return this.attempts.get(attemptName(attempt)) ?? this.folders.find(attempt)
  }

  /** Takes its devices. `Left`: why they cannot be had. */
  private begun(command: Command): E.Either<string, JobAttempt> {
    const name = attemptName(command)
    const job = this.folders.start(command)
    const before = this.attempts.get(name)
    if (before?.folder === job.folder) return E.right(before)
    // Of another life of that name, which nobody asks about any more.
    if (before !== undefined) {
      before.kill()
      this.forget(before)
    }
    const held = this.open.filter((one) => ['absent', 'runs'].includes(one.state())).map(({ lease }) => lease)
    const objection = job.state() === 'absent' ? leaseObjection(command.lease, this.nodes, held) : null
    if (objection !== null) return E.left(objection)
    job.open()
    this.attempts.set(name, job)
    return E.right(job)
  }

  private notStarted(job: JobAttempt, reason: string): CommandHandled {
    this.forget(job)
    return failed(reason)
  }
}

/** Of ours only what a program needs to run: the URL of the bus may hold a password. */
const passedOn = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'TZ', 'USER'] as const

const environmentOf = (command: Command, job: JobAttempt): { readonly [name: string]: string } => ({
  ...Object.fromEntries(
    passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  ),
  LEASEHOLD_ATTEMPT: String(command.attempt),
  LEASEHOLD_CLASS: command.class,
  LEASEHOLD_ESTIMATE_MS: command.estimateMs === null ? '' : String(command.estimateMs),
  LEASEHOLD_LEASE: resolve(job.leaseFile),
  LEASEHOLD_STATE: resolve(join(dirname(job.folder), 'state')),
  LEASEHOLD_TEAM: command.team,
  LEASEHOLD_WORKLOAD: command.workload,
})
