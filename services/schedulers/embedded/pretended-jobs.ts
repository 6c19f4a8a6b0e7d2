import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { AttemptEnded, CommandConcluded } from '../../../domain/planner/cell-event.ts'
import { commandKey, conclusionOf } from '../../../domain/planner/command-event.ts'
import type { Command, CommandOutcome } from '../../../domain/planner/command.ts'
import { courseOf, type Script } from './script.ts'

/** An input that the adapter sends, at the instant at which it happened. */
export type Report = (CommandConcluded | AttemptEnded) & { readonly id: string }

/** A pretended job that starts or runs. */
interface Job {
  /** Of the command that started it. */
  readonly key: string
  readonly workload: string
  readonly attempt: number
  readonly runsFrom: EpochMs
  readonly endsAt: EpochMs
  readonly devices: number
  readonly outcome: 'succeeded' | 'failed'
  /** Of its whole work, what had been done when it started. */
  readonly doneMs: DurationMs
  readonly checkpointMs: DurationMs
  readonly stopMs: DurationMs
}

/** What a command changes; it is written down before anything of it is done, and then done by `follow`. */
export type Deed = {
  readonly key: string
  readonly at: EpochMs
  /** Replaced; null: it is gone. */
  readonly job: { readonly name: string; readonly now: Job | null } | null
  /** Work of the workload that a checkpoint keeps. */
  readonly checkpoint: { readonly workload: string; readonly doneMs: DurationMs } | null
  readonly reports: ReadonlyArray<Report>
  /** Ids of reports that are void now. */
  readonly void: ReadonlyArray<string>
  /** The attempt that was asked to stop, and when that was issued; absent: none was. */
  readonly stops?: { readonly name: string; readonly issuedAt: EpochMs }
}

/** All that the adapter knows, as its journal keeps it. */
export interface JobsPicture {
  readonly jobs: ReadonlyArray<Job>
  readonly checkpoints: ReadonlyArray<readonly [string, DurationMs]>
  readonly reports: ReadonlyArray<Report>
  readonly acted: ReadonlyArray<string>
  /** Absent in journals of before. */
  readonly stopped?: ReadonlyArray<readonly [string, EpochMs]>
}

/** Commands that are remembered after all that followed from them has been told, so that a late repeat is known. */
const actedMax = 16_384
/** Attempts that are remembered to have been asked to stop: a start that was overtaken must not start them. */
const stoppedMax = 16_384
/** Workloads whose last checkpoint is kept while they wait. */
const checkpointsMax = 10_000

/** The pretended jobs of the fleet, and what is to be told about them. */
export class PretendedJobs {
  private readonly jobs = new Map<string, Job>()
  private readonly checkpoints = new Map<string, DurationMs>()
  private readonly waiting = new Map<string, Report>()
  private readonly acted = new Set<string>()
  private readonly stopped = new Map<string, EpochMs>()

  constructor(picture: JobsPicture | null = null) {
    if (picture === null) return
    for (const job of picture.jobs) this.jobs.set(nameOf(job), job)
    for (const [workload, doneMs] of picture.checkpoints) this.checkpoints.set(workload, doneMs)
    for (const report of picture.reports) this.waiting.set(report.id, report)
    for (const key of picture.acted) this.acted.add(key)
    for (const [name, issuedAt] of picture.stopped ?? []) this.stopped.set(name, issuedAt)
  }

  get picture(): JobsPicture {
    return {
      jobs: [...this.jobs.values()],
      checkpoints: [...this.checkpoints],
      reports: [...this.waiting.values()],
      acted: [...this.acted],
      stopped: [...this.stopped],
    }
  }

  get running(): number {
    return this.jobs.size
  }

  /** Happened, or will happen, and not told yet. */
  get reports(): ReadonlyMap<string, Report> {
    return this.waiting
  }

  has(command: Command): boolean {
    const key = commandKey(command)
    return this.acted.has(key) || this.waiting.has(answerIdOf(key)) || this.jobs.get(nameOf(command))?.key === key
  }

  /** What is to be done about a command that is new. Changes nothing. */
  deedOf(command: Command, at: EpochMs, script: Script): Deed {
    const job = this.jobs.get(nameOf(command))
    switch (command.verb) {
      case 'start':
      case 'resume':
        return this.start(command, at, script)
      case 'checkpoint':
        if (job === undefined) return concluded(command, at, 'refused', 'it does not run')
        return checkpointed(command, job, at)
      case 'shrink':
        return job === undefined ? concluded(command, at, 'refused', 'it does not run') : shrunk(command, job, at)
      case 'evict':
      case 'cancel':
        return stopped(command, job, at)
      default:
        return concluded(command, at, 'refused', `the embedded adapter knows no ${String(command.verb)}`)
    }
  }

  follow({ key, job, checkpoint, reports, stops, void: voided }: Deed): void {
    this.acted.add(key)
    dropOldest(this.acted, actedMax)
    if (stops !== undefined) {
      this.stopped.delete(stops.name)
      this.stopped.set(stops.name, stops.issuedAt)
      dropOldest(this.stopped, stoppedMax)
    }
    if (job !== null && job.now === null) this.jobs.delete(job.name)
    if (job !== null && job.now !== null) this.jobs.set(job.name, job.now)
    if (checkpoint !== null) {
      this.checkpoints.delete(checkpoint.workload)
      this.checkpoints.set(checkpoint.workload, checkpoint.doneMs)
      dropOldest(this.checkpoints, checkpointsMax)
    }
    for (const id of voided) this.waiting.delete(id)
    for (const report of reports) this.waiting.set(report.id, report)
  }

  /** The log has it, or wants none of it. */
  told(id: string): void {
    const report = this.waiting.get(id)
    if (report === undefined) return
    this.waiting.delete(id)
    if (report.type !== 'AttemptEnded') return
    const name = nameOf(report.data)
    const job = this.jobs.get(name)
    if (job === undefined || endIdOf(job.key) !== id) return
    this.jobs.delete(name)
    this.checkpoints.delete(report.data.workload)
  }

  private start(command: Command, at: EpochMs, script: Script): Deed {
    const { attempt, estimateMs, lease, verb, workload } = command
    const devices = devicesIn(lease)
    if (lease.length === 0) return concluded(command, at, 'refused', 'it is given no node to run on')
    // Its devices may be somebody else's by now. A name may come again, with starts that are issued later.
    if ((this.stopped.get(nameOf(command)) ?? -1) >= command.issuedAt)
      return concluded(command, at, 'refused', 'it was asked to stop before this came')
    const course = courseOf(script, workload, attempt, estimateMs)
    const runsFrom = later(at, course.startMs)
    if (course.startFails) return concluded(command, runsFrom, 'failed', 'the pretended node did not start it')
    const doneMs = (verb === 'resume' ? (this.checkpoints.get(workload) ?? 0) : 0) as DurationMs
    const endsAt = later(runsFrom, Math.max(1, course.runMs - doneMs))
    const key = commandKey(command)
    const { checkpointMs, stopMs } = course
    const outcome = course.fails ? 'failed' : 'succeeded'
    const job: Job = { key, workload, attempt, runsFrom, endsAt, outcome, devices, doneMs, checkpointMs, stopMs }
    const answer = concluded(command, runsFrom, 'done', null)
    // What is left over of that name was ended by others, and in another life of it.
    const before = this.jobs.get(nameOf(job))
    const voided = before === undefined ? [] : [answerIdOf(before.key), endIdOf(before.key)]
    return {
      ...answer,
      at,
      job: { name: nameOf(job), now: job },
      reports: [...answer.reports, endOf(job)],
      void: voided,
    }
  }
}

const nameOf = ({ workload, attempt }: { readonly workload: string; readonly attempt: number }): string =>
  `${workload}/${attempt}`

const later = (at: EpochMs, ms: number): EpochMs => (at + ms) as EpochMs

const devicesIn = (lease: Command['lease']): number => lease.reduce((sum, part) => sum + part.devices.length, 0)

const dropOldest = (kept: Set<string> | Map<string, unknown>, max: number): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return
    kept.delete(oldest)
  }
}

const answerIdOf = (key: string): string => `${key}/concluded`
const endIdOf = (key: string): string => `${key}/ended`

const endOf = ({ key, workload, attempt, endsAt, outcome }: Job): Report => ({
  id: endIdOf(key),
  type: 'AttemptEnded',
  at: endsAt,
  data: { attempt, outcome, workload },
})

/** Nothing but an answer, at `at`. */
const concluded = (command: Command, at: EpochMs, outcome: CommandOutcome, reason: string | null): Deed => {
  const reports = [conclusionOf(command, at, outcome, reason)]
  return { key: commandKey(command), at, job: null, checkpoint: null, reports, void: [] }
}

const checkpointed = (command: Command, job: Job, at: EpochMs): Deed => {
  const doneMs = (job.doneMs + Math.max(0, at - job.runsFrom)) as DurationMs
  const answer = concluded(command, later(at, job.checkpointMs), 'done', null)
  return { ...answer, at, checkpoint: { workload: job.workload, doneMs } }
}

/** What is left to do takes longer by as much as its devices are fewer. */
const shrunk = (command: Command, job: Job, at: EpochMs): Deed => {
  const devices = devicesIn(command.lease)
  if (devices === 0 || devices > job.devices)
    return concluded(command, at, 'refused', `it has ${job.devices} devices and cannot shrink to ${devices}`)
  const from = Math.max(at, job.runsFrom)
  const endsAt = later(from as EpochMs, Math.ceil((Math.max(1, job.endsAt - from) * job.devices) / devices))
  const now: Job = { ...job, devices, endsAt }
  const answer = concluded(command, later(at, job.stopMs), 'done', null)
  return { ...answer, at, job: { name: nameOf(job), now }, reports: [...answer.reports, endOf(now)] }
}

/** What does not run has stopped, and so has what ran on a node that failed. */
const stopped = (command: Command, job: Job | undefined, at: EpochMs): Deed => {
  const stops = { name: nameOf(command), issuedAt: command.issuedAt }
  if (job === undefined) return { ...concluded(command, at, 'done', null), stops }
  const takesMs = command.because === 'node-failed' ? 0 : Math.min(job.stopMs, command.graceMs)
  const answer = concluded(command, later(at, takesMs), 'done', null)
  return { ...answer, at, stops, job: { name: stops.name, now: null }, void: [answerIdOf(job.key), endIdOf(job.key)] }
}
