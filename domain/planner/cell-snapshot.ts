import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { kueueOf, sharingOf, type AllocationPolicy, type MixClass } from '../policy/allocation-policy.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type { WorkloadTerms } from '../workload/terms.ts'
import { Books, type Account } from './books.ts'
import type { BooksSnapshot } from './books-snapshot.ts'
import { Cell } from './cell.ts'
import type { LeasePart, NodeHealth, NodeRegistered, PreemptionDecided } from './cell-event.ts'
import type { DrillBook } from './drill-book.ts'
import type { DurationHistory } from './duration-history.ts'
import type { Edition } from './edition.ts'
import type { EvictionLimits } from './eviction-limits.ts'
import { KueueBooks } from './kueue-books.ts'
import { KueueUsage, type KueueUsageSnapshot } from './kueue-usage.ts'
import { arrive, index, install, lineKeyOf } from './occupancy.ts'
import { Place } from './place.ts'
import type { Projected } from './projected-start.ts'
import type { WaitHistorySnapshot } from './wait-history.ts'
import type { FailedStart, Hold, Run, Workload } from './workload.ts'

interface WorkloadSnapshot {
  readonly account: Account | null
  readonly attempt: number
  readonly class: string
  readonly estimateMs: DurationMs | null
  readonly hold: Hold | null
  readonly projected: Projected | null
  readonly id: string
  readonly queue: string
  readonly request: PlacementRequest
  readonly checkpointed: boolean
  readonly queuedAt: EpochMs
  readonly waitedBeforeMs: DurationMs
  readonly wantsSince: EpochMs
  readonly resumes: boolean
  readonly run: (Omit<Run, 'parts'> & { readonly parts: ReadonlyArray<LeasePart> }) | null
  readonly seq: number
  readonly startsFailed: number
  readonly lastFailedStart: FailedStart | null
  readonly onHold: boolean
  readonly preemptions: number
  readonly promoted: boolean
  readonly roomMade: boolean
  readonly submittedAt: EpochMs
  readonly team: string
  readonly terms: WorkloadTerms
}

/** By numbers of the node and of the device on it. */
type DeviceDown = readonly [node: number, device: number, health: NodeHealth]

/** A cell as plain data, whole: what was folded from the log need not be folded again. */
export interface CellSnapshot {
  readonly books: BooksSnapshot | null
  readonly drills: DrillBook['all']
  readonly durations: ReturnType<DurationHistory['toJSON']>
  readonly waits: WaitHistorySnapshot
  readonly evictions: ReturnType<EvictionLimits['toJSON']>
  readonly lapsed: ReadonlyArray<string>
  readonly places: ReadonlyArray<{ readonly decision: PreemptionDecided['data']; readonly since: EpochMs }>
  readonly demand: { readonly measured: ReadonlyArray<MixClass>; readonly mix: ReadonlyArray<MixClass> }
  readonly devicesDown: ReadonlyArray<DeviceDown>
  readonly health: ReadonlyArray<NodeHealth>
  readonly name: string
  readonly nodes: ReadonlyArray<NodeRegistered['data']>
  readonly now: EpochMs
  /** What the next tick looks at anew; absent: all that waits. */
  readonly pending?: {
    /** Waits and must be told why. */
    readonly fresh: ReadonlyArray<string>
    /** Numbers of nodes on which something came free. */
    readonly freed: ReadonlyArray<number>
    /** First of each line that was never tried. */
    readonly untried: ReadonlyArray<string>
  }
  readonly policy: AllocationPolicy | null
  readonly policyHash: string | null
  readonly edition: Edition
  readonly policyIsNew: boolean
  readonly submissions: number
  /** Where it decides who goes first in a queue. */
  readonly usage?: KueueUsageSnapshot
  /** In order of submission. */
  readonly workloads: ReadonlyArray<WorkloadSnapshot>
}

/** @param only of what waits, those alone; what runs and what has a place kept is among them */
export const takeSnapshot = (cell: Cell, only: ReadonlySet<Workload> | null = null): CellSnapshot => {
  const { fleet } = cell
  const devicesDown: DeviceDown[] = []
  fleet.nodes.forEach(({ devices }, node) => {
    for (let device = 0; device < devices; device++) {
      const health = fleet.healthOf(node, device)
      if (health !== 'ready') devicesDown.push([node, device, health])
    }
  })
  return {
    books: cell.books?.snapshot() ?? null,
    drills: cell.drills.all,
    durations: cell.durations.toJSON(),
    waits: cell.waits.toJSON(),
    evictions: cell.evictionLimits.toJSON(),
    lapsed: [...cell.lapsed],
    places: Array.from(cell.places.values(), ({ decision, since }) => ({ decision, since })),
    demand: { measured: cell.demand.measuredMix, mix: cell.demand.mix },
    devicesDown,
    health: fleet.health.slice(),
    name: cell.name,
    nodes: fleet.nodes.slice(),
    now: cell.now,
    ...(cell.books !== null && { pending: pendingOf(cell, only) }),
    policy: cell.policy,
    policyHash: cell.policyHash,
    edition: cell.edition,
    policyIsNew: cell.policyIsNew,
    submissions: cell.submissions,
    ...(cell.kueue?.usage != null && { usage: cell.kueue.usage.snapshot() }),
    workloads: Array.from(only ?? cell.workloads.values(), (workload) => ({
      account: workload.account,
      attempt: workload.attempt,
      class: workload.class,
      estimateMs: workload.estimateMs,
      hold: workload.hold,
      projected: workload.projected,
      id: workload.id,
      queue: workload.queue.name,
      request: workload.shape.request,
      checkpointed: workload.checkpointed,
      queuedAt: workload.queuedAt,
      waitedBeforeMs: workload.waitedBeforeMs,
      wantsSince: workload.wantsSince,
      resumes: workload.resumes,
      run: workload.run && { ...workload.run, parts: workload.run.parts.map((part) => fleet.partNamed(part)) },
      seq: workload.seq,
      startsFailed: workload.startsFailed,
      lastFailedStart: workload.lastFailedStart,
      onHold: workload.onHold,
      preemptions: workload.preemptions,
      promoted: workload.promoted,
      roomMade: workload.roomMade,
      submittedAt: workload.submittedAt,
      team: workload.team,
      terms: workload.terms,
    })).sort((a, b) => a.seq - b.seq),
  }
}

/** Reasons by shares depend on what was tried; without books all that waits may as well be tried again. */
const pendingOf = (
  { fresh, freed, untried }: Cell,
  only: ReadonlySet<Workload> | null,
): NonNullable<CellSnapshot['pending']> => ({
  fresh: [...fresh].filter((workload) => only?.has(workload) ?? true).map(({ id }) => id),
  freed: [...freed],
  untried: Array.from(untried, ({ first }) => first!.id),
})

/** A cell that decides from here on as the one that the snapshot was taken of. */
export const fromSnapshot = (snapshot: CellSnapshot): Cell => {
  const cell = new Cell(snapshot.name)
  const { fleet } = cell
  cell.now = snapshot.now
  for (const spec of snapshot.nodes) fleet.register(spec)
  restoreHealth(cell, snapshot)
  const { edition, policy, policyHash } = snapshot
  if (policy !== null) install(cell, { document: policy, edition, hash: policyHash! })
  if (policy !== null && sharingOf(policy) === 'kueue')
    cell.kueue = new KueueBooks(cell, policy, usageFrom(snapshot, policy))
  if (snapshot.books !== null) cell.books = Books.restore(fleet, policy!, snapshot.books)
  cell.demand.restore(snapshot.demand.mix, snapshot.demand.measured)
  for (const { drill, at } of snapshot.drills) cell.drills.conclude(drill, at)
  cell.durations.restore(snapshot.durations)
  cell.waits.restore(snapshot.waits)
  cell.evictionLimits.restore(snapshot.evictions)
  for (const name of snapshot.lapsed) cell.lapsed.add(name)
  for (const given of snapshot.workloads) putBack(cell, given)
  fleet.nodes.forEach((_, node) => {
    cell.books?.schedulable.refresh(node)
    cell.kueue?.held.refresh(node)
  })
  for (const { decision, since } of snapshot.places) {
    const parts = decision.lease.map((part) => fleet.partNumbered(part))
    const place = new Place(decision, since, cell.workloads.get(decision.workload)!.shape, parts)
    cell.places.set(decision.workload, place)
    place.gather(fleet, null)
    const workload = cell.workloads.get(decision.workload)!
    cell.books?.count(workload, parts, 1)
    cell.kueue?.keep(workload, parts)
  }
  cell.submissions = snapshot.submissions
  cell.policyIsNew = snapshot.policyIsNew
  if (snapshot.pending !== undefined) putOff(cell, snapshot.pending)
  return cell
}

/** Nothing runs yet: what does is put back with the rest. */
const usageFrom = ({ now, usage = [] }: CellSnapshot, policy: AllocationPolicy): KueueUsage | null => {
  const { usageOrdering } = kueueOf(policy)
  return usageOrdering === undefined ? null : new KueueUsage(usageOrdering, { now, running: [] }, usage)
}

const putOff = (cell: Cell, { fresh, freed, untried }: NonNullable<CellSnapshot['pending']>): void => {
  cell.fresh.clear()
  cell.untried.clear()
  for (const id of fresh) cell.fresh.add(cell.workloads.get(id)!)
  for (const node of freed) cell.freed.add(node)
  for (const id of untried) cell.untried.add(cell.workloads.get(id)!.line!)
}

const putBack = (cell: Cell, given: WorkloadSnapshot): void => {
  const { fleet, books } = cell
  const workload = arrive(cell, given)
  workload.attempt = given.attempt
  workload.checkpointed = given.checkpointed
  workload.queuedAt = given.queuedAt
  workload.waitedBeforeMs = given.waitedBeforeMs
  workload.wantsSince = given.wantsSince
  workload.resumes = given.resumes
  workload.startsFailed = given.startsFailed
  workload.lastFailedStart = given.lastFailedStart
  workload.preemptions = given.preemptions
  workload.promoted = given.promoted
  workload.roomMade = given.roomMade
  workload.onHold = given.onHold
  workload.hold = given.hold
  workload.projected = given.projected
  if (given.run !== null) {
    const run = { ...given.run, parts: given.run.parts.map((part) => fleet.partNumbered(part)) }
    workload.run = run
    for (const part of run.parts) fleet.take(workload.shape, part)
    index(cell, workload, run)
    cell.kueue?.usage?.putBack(workload, run.parts)
    cell.kueue?.start(workload, run.parts, run.startedAt)
  } else {
    // Held back, or let go, since it was told why it waits.
    if (given.hold === null || given.onHold !== (given.hold.code === 'OnHold')) cell.fresh.add(workload)
    if (given.onHold) return
    workload.queue.add(workload)
    if (books === null) workload.queue.lines.add(workload, lineKeyOf(cell, workload))
  }
  books?.putBack(workload, given.account)
  if (workload.line?.size === 1) cell.untried.add(workload.line)
}

const restoreHealth = ({ fleet }: Cell, { health, devicesDown }: CellSnapshot): void => {
  health.forEach((state, node) => {
    if (state !== 'ready') fleet.setHealth(node, null, state)
  })
  for (const [node, device, state] of devicesDown) fleet.setHealth(node, device, state)
}

/** What a fork tries is not seen by the cell it came from. */
export const fork = (cell: Cell): Cell => fromSnapshot(takeSnapshot(cell))
