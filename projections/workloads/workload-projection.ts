import { assert } from '../../domain/kernel/decider.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type {
  AttemptStopped,
  CellEvent,
  CommandConcluded,
  LeaseShrunk,
  WorkloadAdmitted,
  WorkloadHeld,
  WorkloadSubmitted,
} from '../../domain/planner/cell-event.ts'
import { startCommandOf, type Workload } from '../../domain/planner/workload.ts'
import { commandsOf } from '../../domain/policy/allocation-policy.ts'
import { requestedMilli } from '../../domain/workload/request.ts'
import { commandRow, commandRows, type Conclusion } from '../commands/command-row.ts'
import type { FleetLevel } from '../fragmentation/fleet-level.ts'
import type { RowSink } from '../rows/row-sink.ts'
import { attemptRow, attemptRows } from './attempt-row.ts'
import { leaseRow, leaseRows } from './lease-row.ts'
import type { HeldPart, LiveAttempt, LiveWorkload, OpenCommandRow } from './live-workload.ts'
import { reasonRow, reasonRows } from './reason-row.ts'
import { workloadRow, workloadRows } from './workload-row.ts'

/** How a workload ended, or that it has not: whatever else is known follows from the cell. */
interface End {
  readonly state: 'succeeded' | 'failed' | 'refused' | 'cancelled' | 'not-started'
  readonly reason?: string
}

/** Rows of what is submitted, started, held, asked for and ended. It holds what waits or runs, and forgets what is over. */
export class WorkloadProjection {
  private readonly cell: Cell
  private readonly level: FleetLevel
  private readonly sink: RowSink
  private readonly live = new Map<string, LiveWorkload>()

  constructor(cell: Cell, level: FleetLevel, sink: RowSink) {
    this.cell = cell
    this.level = level
    this.sink = sink
  }

  /** Takes an event that the cell has taken already. */
  follow(event: CellEvent, position: number): void {
    switch (event.type) {
      case 'WorkloadSubmitted': {
        this.submit(event, position)
        return
      }
      case 'WorkloadAdmitted': {
        this.admit(event, position)
        return
      }
      case 'WorkloadHeld': {
        this.hold(event, position)
        return
      }
      case 'WorkloadRefused': {
        this.over(this.known(event), event.at, position, { state: 'refused', reason: event.data.code })
        return
      }
      case 'WorkloadCancelled': {
        this.over(this.known(event), event.at, position, { state: 'cancelled' })
        return
      }
      case 'AttemptEnded': {
        const live = this.known(event)
        // Where it was asked to leave, that it has stopped is said by the decision that follows.
        if (this.cell.workloads.has(live.id)) return
        this.over(live, event.at, position, { state: event.data.outcome })
        return
      }
      case 'EstimateOverran': {
        const live = this.known(event)
        live.attempt!.expectedEndAt = event.data.expectedEndAt
        this.putAttempt(live, live.attempt!, null, position)
        return
      }
      case 'CommandIssued': {
        const { attempt, because, command, deadlineAt, node, preemptor = null, rule, verb } = event.data
        const open = { command, verb, attempt, because, node, preemptor, rule, issuedAt: event.at, deadlineAt }
        const live = this.known(event)
        this.issue(live, open, position)
        this.putWorkload(live, position)
        return
      }
      case 'CommandConcluded': {
        this.conclude(event, position)
        return
      }
      case 'AttemptStopped': {
        this.stop(event, position)
        return
      }
      case 'LeaseShrunk': {
        this.shrink(event, position)
        return
      }
    }
  }

  /** Position of the submission of what waits or runs. */
  submissionOf(workload: string): number {
    return this.known({ data: { workload } }).submission
  }

  private known({ data: { workload } }: { readonly data: { readonly workload: string } }): LiveWorkload {
    const live = this.live.get(workload)
    assert(live !== undefined, 'what is told of a workload follows its submission')
    return live
  }

  private submit({ at, data }: WorkloadSubmitted, position: number): void {
    const fresh = { firstStartedAt: null, attempts: 0, requeues: 0, hold: null, attempt: null, commands: new Map() }
    const live: LiveWorkload = { id: data.workload, submission: position, submittedAt: at, submitted: data, ...fresh }
    this.live.set(live.id, live)
    this.count(live, 1, 0, position)
    this.putWorkload(live, position)
  }

  private admit({ at, data }: WorkloadAdmitted, position: number): void {
    const live = this.known({ data })
    this.release(live, at, position)
    const attempt: LiveAttempt = {
      number: data.attempt,
      startedAt: at,
      waitedMs: data.waitedMs,
      resumes: data.resumes === true,
      budget: data.budget ?? '',
      milliUnits: data.milliUnits ?? null,
      preempted: data.preempted === true,
      limitAt: data.limitAt ?? null,
      isFirst: live.firstStartedAt === null,
      expectedEndAt: data.expectedEndAt,
      parts: data.lease.map((part) => ({ part, from: at })),
    }
    live.attempt = attempt
    live.attempts = data.attempt
    live.firstStartedAt ??= at
    this.count(live, -1, 1, position)
    for (const part of attempt.parts) this.putLease(live, attempt, part, null, position)
    this.putAttempt(live, attempt, null, position)
    const workload = this.cell.workloads.get(live.id)!
    if (workload.run!.commanded) this.issue(live, this.startOf(workload, at, data.rule), position)
    this.putWorkload(live, position)
  }

  private startOf(workload: Workload, at: number, rule: string): OpenCommandRow {
    return {
      command: startCommandOf(workload),
      verb: workload.resumes ? 'resume' : 'start',
      attempt: workload.attempt,
      because: 'admitted',
      node: null,
      preemptor: null,
      rule,
      issuedAt: at,
      deadlineAt: at + commandsOf(this.cell.policy).startWithinMs,
    }
  }

  private hold({ at, data: { behind, code, rule, workload } }: WorkloadHeld, position: number): void {
    const live = this.known({ data: { workload } })
    this.release(live, at, position)
    live.hold = { position, from: at, code, rule, behind }
    this.sink.put(reasonRows, position, reasonRow(this.cell.name, live, live.hold, null, position))
    this.putWorkload(live, position)
  }

  /** The reason why it was held no longer holds. */
  private release(live: LiveWorkload, at: number, position: number): void {
    const { hold } = live
    if (hold === null) return
    const to = Math.max(hold.from, at)
    this.sink.put(reasonRows, hold.position, reasonRow(this.cell.name, live, hold, to, position))
    live.hold = null
  }

  private conclude({ at, data }: CommandConcluded, position: number): void {
    const live = this.known({ data })
    const { command, outcome, reason } = data
    this.settle(live, command, { at, outcome, answer: reason }, position)
    this.putWorkload(live, position)
  }

  private settle(live: LiveWorkload, command: string, conclusion: Conclusion, position: number): void {
    const open = live.commands.get(command)
    if (open === undefined) return
    this.sink.put(
      commandRows,
      `${live.submission} ${command}`,
      commandRow(this.cell.name, live, open, conclusion, position),
    )
    live.commands.delete(command)
  }

  private issue(live: LiveWorkload, open: OpenCommandRow, position: number): void {
    live.commands.set(open.command, open)
    const row = commandRow(this.cell.name, live, open, null, position)
    this.sink.put(commandRows, `${live.submission} ${open.command}`, row)
  }

  private shrink({ at, data }: LeaseShrunk, position: number): void {
    const live = this.known({ data })
    const attempt = live.attempt!
    const kept = new Map(data.keeps.map((part) => [part.node, part]))
    const stay: HeldPart[] = []
    for (const held of attempt.parts) {
      const part = kept.get(held.part.node)
      if (part !== undefined && part.devices.join() === held.part.devices.join()) {
        stay.push(held)
        continue
      }
      this.putLease(live, attempt, held, at, position)
      if (part === undefined) continue
      const fresh = { part, from: Math.max(held.from, at) }
      stay.push(fresh)
      this.putLease(live, attempt, fresh, null, position)
    }
    attempt.parts = stay
    this.putAttempt(live, attempt, null, position)
    this.putWorkload(live, position)
  }

  private stop({ at, data }: AttemptStopped, position: number): void {
    const live = this.known({ data })
    const { outcome, requeued } = data
    const neverRan = outcome === 'not-started' || outcome === 'only-advised'
    if (neverRan && live.attempt!.isFirst) live.firstStartedAt = null
    if (!requeued) {
      this.over(live, at, position, { state: endStates[outcome] }, outcome)
      return
    }
    this.leave(live, at, outcome, position)
    live.requeues++
    this.count(live, 1, -1, position)
    this.putWorkload(live, position)
  }

  private over(live: LiveWorkload, at: number, position: number, end: End, outcome: string = end.state): void {
    if (live.attempt === null) this.count(live, -1, 0, position)
    else this.count(live, 0, -1, position)
    this.release(live, at, position)
    this.leave(live, at, outcome, position)
    this.putWorkload(live, position, { ...end, at })
    this.live.delete(live.id)
  }

  /** Its attempt is over, and with it whatever it held and was asked to do. */
  private leave(live: LiveWorkload, at: number, outcome: string, position: number): void {
    const { attempt } = live
    if (attempt === null) return
    for (const part of attempt.parts) this.putLease(live, attempt, part, at, position)
    this.putAttempt(live, attempt, { at: Math.max(attempt.startedAt, at), outcome }, position)
    for (const command of [...live.commands.keys()])
      this.settle(live, command, { at, outcome: 'attempt-ended', answer: null }, position)
    live.attempt = null
  }

  private count(live: LiveWorkload, waiting: number, running: number, position: number): void {
    this.level.waiting += waiting
    this.level.waitingMilli += waiting * requestedMilli(live.submitted.request)
    this.level.running += running
    this.level.change(position)
  }

  private putLease(
    live: LiveWorkload,
    attempt: LiveAttempt,
    held: HeldPart,
    at: number | null,
    position: number,
  ): void {
    const { name } = this.cell
    const to = at === null ? null : Math.max(held.from, at)
    const key = `${live.submission} ${attempt.number} ${held.from} ${held.part.node}`
    this.sink.put(leaseRows, key, leaseRow(name, live, attempt.number, held, to, position))
  }

  private putAttempt(
    live: LiveWorkload,
    attempt: LiveAttempt,
    ended: { readonly at: number; readonly outcome: string } | null,
    position: number,
  ): void {
    const row = attemptRow(this.cell.name, live, attempt, ended, position)
    this.sink.put(attemptRows, `${live.submission} ${attempt.number}`, row)
  }

  private putWorkload(live: LiveWorkload, position: number, end?: End & { readonly at: number }): void {
    const standing = {
      state: end?.state ?? stateOf(this.cell.workloads.get(live.id)!),
      reason: end?.reason ?? live.hold?.code ?? '',
      endedAt: end?.at ?? null,
    }
    this.sink.put(workloadRows, live.submission, workloadRow(this.cell.name, live, standing, position))
  }
}

const stateOf = ({ run }: Workload): string => {
  if (run === null) return 'waiting'
  if (run.open?.verb === 'evict' || run.open?.verb === 'cancel') return 'stopping'
  return run.commanded && !run.confirmed ? 'starting' : 'running'
}

/** What is left of a workload whose attempt was stopped for good. */
const endStates = {
  cancelled: 'cancelled',
  evicted: 'failed',
  'not-started': 'not-started',
  'only-advised': 'failed',
} as const
