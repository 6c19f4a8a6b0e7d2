import { emptyFleetVerdict, type EmptyFleetVerdict } from '../fleet/empty-fleet.ts'
import { Fleet } from '../fleet/fleet.ts'
import { DemandSeen, FragmentationMeasure } from '../fleet/fragmentation.ts'
import { Placer } from '../fleet/placer.ts'
import { ShapeTable, type Shape } from '../fleet/shape.ts'
import type { EpochMs } from '../kernel/units.ts'
import { contractOf, sharingOf, standingOf, type AllocationPolicy, type Mode } from '../policy/allocation-policy.ts'
import type { Books } from './books.ts'
import { DrillBook, type Drilled } from './drill-book.ts'
import { DurationHistory } from './duration-history.ts'
import { editionFirst, type Edition } from './edition.ts'
import { EndIndex } from './end-index.ts'
import { EvictionLimits } from './eviction-limits.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { Line } from './line.ts'
import type { Place } from './place.ts'
import { WaitHistory } from './wait-history.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Run, Workload } from './workload.ts'

/**
 * State of one cell, folded from its stream: the fleet, what waits, what runs, and the policy. `evolve` alone changes
 * it. What has ended is forgotten: no tick does work that grows with history.
 */
export class Cell {
  readonly name: string
  now = 0 as EpochMs
  policy: AllocationPolicy | null = null
  policyHash: string | null = null
  edition: Edition = editionFirst
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
  /** How long what ended ran. */
  readonly durations = new DurationHistory()
  /** How long what started had waited. */
  readonly waits = new WaitHistory()
  readonly evictionLimits = new EvictionLimits()
  /** Kept by the budget tree; null: the policy has none. */
  books: Books | null = null
  /** Kept by quota as Kueue does; null: the policy shares by something else. */
  kueue: KueueBooks | null = null
  /** By the workload that each is kept for, in order of the decisions. */
  readonly places = new Map<string, Place>()
  /** What runs and nobody knows for how long. */
  readonly unending = new Set<Workload>()
  /** What runs and has to leave by a time limit. */
  readonly limited = new Set<Workload>()
  /** What runs and has to show progress, because it did or the policy demands it, and does not count as idle. */
  readonly watched = new Set<Workload>()
  /** What runs and was asked to stop, or to shrink, and has not said what became of it. */
  readonly leaving = new Set<Workload>()
  /** Reservations and exceptions, by kind, name and date, that were said to have ended: whichever policy states them. */
  readonly lapsed = new Set<string>()
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
  isDrilled({ team, terms: { modelFamily } }: Drilled, at: EpochMs): boolean {
    const { drillRequired, drillValidMs } = contractOf(this.policy)
    return !drillRequired || this.drills.passed(team, modelFamily, at, drillValidMs)
  }

  /** It tolerates being evicted, and is known to go on afterwards. */
  isPreemptible(workload: Workload, at: EpochMs): boolean {
    return workload.terms.preemption.tolerated && this.isDrilled(workload, at)
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
   * After a tick that decided nothing and is recorded nowhere. Where time alone makes a difference to what is found out,
   * the next look has to begin where a fold of the log begins it.
   */
  lookedInVain(): void {
    if (this.policy !== null && sharingOf(this.policy) === 'queues') this.settle()
  }

  /** After a tick that is recorded: what waits has been ruled out on the freed nodes. */
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
    // What is on hold stands in no queue.
    for (const workload of this.fresh) if (workload.onHold) yield workload
  }
}
