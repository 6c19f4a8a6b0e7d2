import { emptyFleetVerdict, type EmptyFleetVerdict } from '../fleet/empty-fleet.ts'
import { Fleet } from '../fleet/fleet.ts'
import { DemandSeen, FragmentationMeasure } from '../fleet/fragmentation.ts'
import { Placer } from '../fleet/placer.ts'
import { ShapeTable, type Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { contractOf, standingOf, type AllocationPolicy, type Mode } from '../policy/allocation-policy.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type {
  AttemptEnded,
  AttemptStopped,
  CellEvent,
  CheckpointCommitted,
  CommandConcluded,
  CommandIssued,
  LeaseShrunk,
  PolicyActivated,
  ProgressObserved,
  WorkloadAdmitted,
  WorkloadHeld,
  WorkloadSubmitted,
} from './cell-event.ts'
import { DrillBook } from './drill-book.ts'
import { EndIndex } from './end-index.ts'
import type { Line } from './line.ts'
import { WaitingQueue } from './waiting-queue.ts'
import { endedByEviction, waitedBy, type Run, type Workload } from './workload.ts'

/**
 * State of one cell, folded from its stream: the fleet, what waits, what runs, and the policy. `evolve` alone changes
 * it. What has ended is forgotten: no tick does work that grows with history.
 */
export class Cell {
  readonly name: string
  now = 0 as EpochMs
  policy: AllocationPolicy | null = null
  policyHash: string | null = null
  readonly fleet = new Fleet()
  readonly shapes = new ShapeTable()
  readonly placer = new Placer(this.fleet)
  readonly demand = new DemandSeen()
  /** In the policy's order. */
  queues: ReadonlyArray<WaitingQueue> = []
  /** Also those that the policy does not have: what waits there is misconfigured. */
  readonly queueNamed = new Map<string, WaitingQueue>()
  /** What waits or runs. */
  readonly workloads = new Map<string, Workload>()
  readonly ends = new EndIndex()
  readonly drills = new DrillBook()
  /** What runs, by the number of each node that it runs on. */
  private readonly runs = new Map<number, Set<Workload>>()
  /** Waits, and was submitted since the last tick. */
  readonly fresh = new Set<Workload>()
  /** Came up since the last tick: where their requests may go is searched in the whole fleet. */
  readonly untried = new Set<Line>()
  /** The policy changed since the last tick: every reason is given anew, and everything is tried everywhere. */
  policyIsNew = false
  /** Nodes on which something came free since the last tick, each once. */
  readonly freed = new Set<number>()
  submissions = 0
  private mixMeasure: { readonly of: AllocationPolicy; readonly measure: FragmentationMeasure } | null = null
  private readonly shadows: Fleet[] = []
  private readonly verdicts = new Map<number, EmptyFleetVerdict & { readonly registrations: number }>()

  constructor(name: string) {
    this.name = name
  }

  /** What fragmentation is measured against: the policy's mix, else the demand seen. */
  get fragmentation(): FragmentationMeasure {
    const { policy } = this
    if (policy?.placement.mix == null) return this.demand.fragmentation
    if (this.mixMeasure?.of !== policy)
      this.mixMeasure = { of: policy, measure: new FragmentationMeasure(policy.placement.mix) }
    return this.mixMeasure.measure
  }

  /** Whether the empty fleet would hold it; worked out once per shape and fleet. */
  verdict(shape: Shape): EmptyFleetVerdict {
    const known = this.verdicts.get(shape.index)
    const { registrations } = this.fleet
    if (known?.registrations === registrations) return known
    const verdict = { ...emptyFleetVerdict(this.fleet, shape), registrations }
    this.verdicts.set(shape.index, verdict)
    return verdict
  }

  /** The i-th fleet to try things on: it holds whatever was left there. */
  shadow(i: number): Fleet {
    return (this.shadows[i] ??= new Fleet())
  }

  /** Whether it was seen, and lately enough, that such work goes on from a checkpoint; or nobody asks for that. */
  isDrilled({ team, terms: { modelFamily } }: Workload, at: EpochMs): boolean {
    const { drillRequired, drillValidMs } = contractOf(this.policy)
    return !drillRequired || this.drills.passed(team, modelFamily, at, drillValidMs)
  }

  /** What its policy lets it do now. */
  get standing(): Mode | 'frozen' | 'no-policy' {
    return this.policy === null ? 'no-policy' : standingOf(this.policy, this.name)
  }

  /** Whether ticks decide anything. */
  get decides(): boolean {
    const { standing } = this
    return standing === 'automate' || standing === 'advise'
  }

  runningOn(node: number): Iterable<Workload> {
    return this.runs.get(node) ?? []
  }

  /** @param runs whether it runs there from now on, or no longer */
  noteRuns(workload: Workload, parts: Run['parts'], runs: boolean): void {
    for (const { node } of parts) {
      const there = this.runs.get(node)
      if (!runs) there?.delete(workload)
      else if (there === undefined) this.runs.set(node, new Set([workload]))
      else there.add(workload)
    }
  }

  /**
   * After a tick, recorded or not: what waits has been ruled out on the freed nodes. Changes no decision, only how much
   * the next tick looks at.
   */
  settle(): void {
    if (!this.decides) return
    this.fresh.clear()
    this.untried.clear()
    this.freed.clear()
    this.policyIsNew = false
  }

  /** What the next tick gives a reason to, besides heads of queues and firsts of lines. */
  *unexplained(): Generator<Workload> {
    if (!this.policyIsNew) return yield* this.fresh
    for (const queue of this.queueNamed.values())
      for (let workload = queue.head; workload !== null; workload = workload.next) yield workload
  }
}

/** Folds one event into the cell, which is changed in place and returned. */
export const evolve = (cell: Cell, event: CellEvent): Cell => {
  cell.now = Math.max(cell.now, event.at) as EpochMs
  switch (event.type) {
    case 'NodeRegistered':
      cell.freed.add(cell.fleet.register(event.data))
      break
    case 'NodeHealthChanged': {
      const node = cell.fleet.node(event.data.node)
      assert(node !== undefined, 'health changes on a registered node')
      cell.fleet.setHealth(node, event.data.device, event.data.health)
      cell.freed.add(node)
      break
    }
    case 'PolicyActivated':
      activate(cell, event.data)
      break
    case 'WorkloadSubmitted':
      submit(cell, event)
      break
    case 'AttemptEnded':
      end(cell, event.data)
      break
    case 'CancelRequested':
      break
    case 'HoldRequested':
    case 'ReleaseRequested':
      holdBack(cell, known(cell, event.data.workload), event.type === 'HoldRequested')
      break
    case 'CheckpointCommitted':
    case 'ProgressObserved':
      progress(cell, event)
      break
    case 'DrillConcluded':
      cell.drills.conclude(event.data, event.at)
      break
    case 'CommandConcluded':
      conclude(cell, event)
      break
    case 'Ticked':
      cell.settle()
      break
    case 'WorkloadAdmitted':
      admit(cell, event)
      break
    case 'WorkloadHeld':
      hold(cell, event)
      break
    case 'WorkloadRefused': {
      const workload = known(cell, event.data.workload)
      leaveQueue(cell, workload)
      cell.workloads.delete(workload.id)
      break
    }
    case 'CommandIssued':
      issue(cell, event)
      break
    case 'AttemptStopped':
      stop(cell, event)
      break
    case 'LeaseShrunk':
      shrink(cell, event.data)
      break
    case 'WorkloadCancelled': {
      const workload = known(cell, event.data.workload)
      if (workload.run === null) leaveQueue(cell, workload)
      else vacate(cell, workload)
      cell.workloads.delete(workload.id)
      break
    }
    case 'EstimateOverran': {
      const workload = known(cell, event.data.workload)
      assert(workload.run !== null, 'what overran was running')
      if (workload.run.expectedEndAt !== null) cell.ends.remove(workload)
      workload.run = { ...workload.run, expectedEndAt: event.data.expectedEndAt }
      cell.ends.add(workload)
      break
    }
    default:
      assert(false, `the log holds events of known types, not ${(event as CellEvent).type}`)
  }
  return cell
}

const known = (cell: Cell, id: string): Workload => {
  const workload = cell.workloads.get(id)
  assert(workload !== undefined, 'what is decided about waits or runs')
  return workload
}

export const activate = (cell: Cell, { document, hash }: PolicyActivated['data']): void => {
  cell.policy = document
  cell.policyHash = hash
  cell.policyIsNew = true
  for (const queue of cell.queueNamed.values()) queue.index = -1
  cell.queues = document.queues.map(({ name, ordering }, index) => {
    const queue = queueOf(cell, name)
    queue.ordering = ordering
    queue.index = index
    return queue
  })
}

const queueOf = (cell: Cell, name: string): WaitingQueue => {
  const queue = cell.queueNamed.get(name)
  if (queue !== undefined) return queue
  const unknown = new WaitingQueue(name, 'fifo', -1)
  cell.queueNamed.set(name, unknown)
  return unknown
}

/** A workload as it comes in; it waits in its queue. */
export const enqueue = (
  cell: Cell,
  given: Pick<Workload, 'id' | 'seq' | 'class' | 'team' | 'estimateMs' | 'submittedAt' | 'terms'> & {
    readonly queue: string
    readonly request: PlacementRequest
  },
): Workload => {
  const workload: Workload = {
    id: given.id,
    seq: given.seq,
    class: given.class,
    team: given.team,
    shape: cell.shapes.intern(given.request),
    queue: queueOf(cell, given.queue),
    estimateMs: given.estimateMs,
    submittedAt: given.submittedAt,
    terms: given.terms,
    queuedAt: given.submittedAt,
    waitedBeforeMs: 0 as DurationMs,
    attempt: 0,
    checkpointed: false,
    resumes: false,
    startsFailed: 0,
    onHold: false,
    preemptions: 0,
    hold: null,
    previous: null,
    next: null,
    line: null,
    slot: -1,
    run: null,
  }
  cell.workloads.set(workload.id, workload)
  standInLine(cell, workload)
  return workload
}

/** It waits, with all others of its queue that ask for the same. */
const standInLine = (cell: Cell, workload: Workload): void => {
  if (workload.onHold) return
  workload.queue.add(workload)
  const line = workload.queue.lines.add(workload, workload.shape.index)
  if (line.size === 1) cell.untried.add(line)
}

const leaveQueue = (cell: Cell, workload: Workload): void => {
  cell.fresh.delete(workload)
  const { line } = workload
  // What is on hold stands in none.
  if (line === null) return
  workload.queue.remove(workload)
  workload.queue.lines.remove(workload)
  if (line.size === 0) cell.untried.delete(line)
}

/** A waiting workload starts to run. */
export const occupy = (cell: Cell, workload: Workload, run: Run): void => {
  leaveQueue(cell, workload)
  workload.hold = null
  workload.run = run
  for (const part of run.parts) cell.fleet.take(workload.shape, part)
  cell.noteRuns(workload, run.parts, true)
  if (run.expectedEndAt !== null) cell.ends.add(workload)
}

/** Its devices are free again. */
const vacate = (cell: Cell, workload: Workload): void => {
  const { run } = workload
  assert(run !== null, 'what gives devices back was running')
  if (run.expectedEndAt !== null) cell.ends.remove(workload)
  giveBack(cell, workload, run.parts)
}

const giveBack = (cell: Cell, workload: Workload, parts: Run['parts']): void => {
  for (const part of parts) {
    cell.fleet.give(workload.shape, part)
    cell.freed.add(part.node)
  }
  cell.noteRuns(workload, parts, false)
}

const submit = (cell: Cell, { at, data }: WorkloadSubmitted): void => {
  const { class: kind, estimateMs, queue, request, team, terms, workload: id } = data
  const seq = cell.submissions++
  const workload = enqueue(cell, { id, seq, class: kind, team, estimateMs, submittedAt: at, queue, request, terms })
  cell.fresh.add(workload)
  cell.demand.add(workload.shape)
}

const admit = (cell: Cell, { at, data }: WorkloadAdmitted): void => {
  const workload = known(cell, data.workload)
  const parts = data.lease.map((part) => cell.fleet.partNumbered(part))
  workload.attempt = data.attempt
  workload.resumes = data.resumes === true
  const commanded = cell.standing === 'automate'
  occupy(cell, workload, {
    startedAt: at,
    expectedEndAt: data.expectedEndAt,
    parts,
    commanded,
    confirmed: false,
    confirmedAt: commanded ? null : at,
    checkpointAt: null,
    progressAt: null,
    idle: false,
    preemptible: workload.terms.preemption.tolerated && cell.isDrilled(workload, at),
    preempted: data.preempted === true,
    limitAt: data.limitAt ?? null,
    open: null,
    issued: 0,
    tried: [],
  })
}

const hold = (cell: Cell, { at, data }: WorkloadHeld): void => {
  const workload = known(cell, data.workload)
  const { code, rule, behind, projectedStartAt } = data
  workload.hold = { code, rule, behind, since: at, projectedStartAt }
}

const end = (cell: Cell, data: AttemptEnded['data']): void => {
  const workload = known(cell, data.workload)
  if (endedByEviction(workload, data.outcome)) return
  vacate(cell, workload)
  cell.workloads.delete(workload.id)
}

const conclude = (cell: Cell, { at, data: { outcome, verb, workload: id } }: CommandConcluded): void => {
  const workload = known(cell, id)
  const { run } = workload
  assert(run !== null, 'what is concluded about runs')
  if (verb === 'start' || verb === 'resume') {
    if (outcome === 'done') workload.run = { ...run, confirmed: true, confirmedAt: at }
    return
  }
  if (verb !== 'checkpoint' && verb !== 'shrink') return
  const saved = verb === 'checkpoint' && outcome === 'done'
  workload.run = { ...run, open: null, tried: [...run.tried, verb], checkpointAt: saved ? at : run.checkpointAt }
  if (saved) workload.checkpointed = true
}

/** Takes it out of its queue, or lets it in again; what runs is only marked. */
export const holdBack = (cell: Cell, workload: Workload, onHold: boolean): void => {
  if (workload.run === null && onHold) leaveQueue(cell, workload)
  workload.onHold = onHold
  if (workload.run !== null) return
  standInLine(cell, workload)
  cell.fresh.add(workload)
}

const progress = (cell: Cell, { type, at, data }: CheckpointCommitted | ProgressObserved): void => {
  const workload = known(cell, data.workload)
  const { run } = workload
  assert(run !== null, 'what makes progress runs')
  const progressAt = Math.max(at, run.progressAt ?? at) as EpochMs
  const checkpointAt =
    type === 'CheckpointCommitted' ? (Math.max(at, run.checkpointAt ?? at) as EpochMs) : run.checkpointAt
  workload.run = { ...run, progressAt, checkpointAt, idle: false }
  if (type === 'CheckpointCommitted') workload.checkpointed = true
}

const issue = (cell: Cell, { at, data }: CommandIssued): void => {
  const workload = known(cell, data.workload)
  const { run } = workload
  assert(run !== null, 'what is asked to do something runs')
  workload.run = { ...run, open: { ...data, issuedAt: at }, issued: run.issued + 1 }
}

const stop = (cell: Cell, { at, data: { outcome, requeued, workload: id } }: AttemptStopped): void => {
  const workload = known(cell, id)
  vacate(cell, workload)
  if (outcome === 'not-started') workload.startsFailed++
  if (!requeued) {
    cell.workloads.delete(id)
    return
  }
  workload.waitedBeforeMs = waitedBy(workload, at)
  workload.queuedAt = at
  workload.run = null
  standInLine(cell, workload)
  cell.fresh.add(workload)
}

const shrink = (cell: Cell, { keeps, workload: id }: LeaseShrunk['data']): void => {
  const workload = known(cell, id)
  const { run } = workload
  assert(run !== null, 'what shrinks runs')
  const parts = keeps.map((part) => cell.fleet.partNumbered(part))
  const kept = new Set(parts.map(({ node }) => node))
  giveBack(
    cell,
    workload,
    run.parts.filter(({ node }) => !kept.has(node)),
  )
  workload.run = { ...run, parts, tried: run.tried.filter((verb) => verb !== 'shrink') }
}
