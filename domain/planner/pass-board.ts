import type { Placement } from '../fleet/fleet.ts'
import type { PlacementRules } from '../fleet/placer.ts'
import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { Cell } from './cell.ts'
import type { CellDecision, EstimateOverran, WorkloadAdmitted } from './cell-event.ts'
import { endOf } from './end-index.ts'
import { Reservation, type ExpectedEnd } from './reservation.ts'
import type { Workload } from './workload.ts'

/** An estimate that turns out too short is doubled, by at least this much. */
const overrunMin = 60_000

/**
 * What one look at everything comes to, at one instant: what it starts is taken from the fleet while it lasts and given
 * back by `undo`, so that the cell is left as it was found.
 */
export class PassBoard {
  readonly cell: Cell
  readonly at: EpochMs
  readonly decisions: CellDecision[] = []
  readonly started = new Map<Workload, Placement>()
  lastStarted: Workload | null = null
  /** Each binds what is started after it. */
  readonly reservations: Reservation[] = []
  protected readonly rules: PlacementRules
  private readonly overran = new Map<Workload, number>()

  constructor(cell: Cell, at: EpochMs) {
    const { policy } = cell
    assert(policy !== null, 'a pass follows a policy')
    this.cell = cell
    this.at = at
    this.rules = { policy: policy.placement, fragmentation: cell.fragmentation }
  }

  undo(): void {
    for (const [workload, placement] of this.started)
      for (const part of placement.parts) this.cell.fleet.give(workload.shape, part)
  }

  /**
   * A place that could be kept for such a request, as things stand in this pass. Unless it is kept among the
   * `reservations`, the next one is worked out on the same shadow.
   */
  reserve(shape: Shape, spare = 0): Reservation {
    const shadow = this.cell.shadow(this.reservations.length)
    return new Reservation(shape, this.cell.fleet, shadow, this.expectedEnds(), spare)
  }

  protected findOverruns(): void {
    for (const workload of this.cell.ends) {
      if (endOf(workload) > this.at) break
      const expectedEndAt = this.expectedAnew(workload, this.at - workload.run!.startedAt)
      this.overran.set(workload, expectedEndAt)
      this.decisions.push({
        type: 'EstimateOverran',
        at: this.at,
        data: { attempt: workload.attempt, expectedEndAt, workload: workload.id },
      } satisfies EstimateOverran)
    }
  }

  /** When what runs longer than was expected is expected to end. */
  protected expectedAnew(_workload: Workload, ranMs: number): EpochMs {
    return (this.at + Math.max(overrunMin, ranMs)) as EpochMs
  }

  /** @param before only the reservations before this one bind it */
  protected allowed(
    shape: Shape,
    placement: Placement,
    endAt: number,
    leaving: ReadonlyArray<ExpectedEnd> = [],
    before = this.reservations.length,
  ): boolean {
    for (let i = 0; i < before; i++) {
      if (this.reservations[i]!.allows(shape, placement, endAt, leaving)) continue
      while (--i >= 0) this.reservations[i]!.retract(shape, placement, endAt, leaving)
      return false
    }
    return true
  }

  /** When a running attempt is expected to end, as things stand in this pass. */
  protected endOfRun(workload: Workload): number {
    return this.overran.get(workload) ?? workload.run!.expectedEndAt ?? Infinity
  }

  /** How long it is expected to run; null: unknown. */
  protected estimateOf({ estimateMs }: Workload): DurationMs | null {
    return estimateMs
  }

  /** When it is expected to end if it starts now; Infinity: nobody knows. */
  protected endAtOf(workload: Workload): number {
    const estimateMs = this.estimateOf(workload)
    return estimateMs === null ? Infinity : this.at + estimateMs
  }

  /** The workload starts there; what else is to be told of it is in `more`. */
  protected admit(
    workload: Workload,
    placement: Placement,
    rule: string,
    more: Partial<WorkloadAdmitted['data']> = {},
  ): void {
    const { fleet } = this.cell
    const { shape } = workload
    const { alternative, score } = placement
    const freeMilli = fleet.freeTotal
    const estimateMs = this.estimateOf(workload)
    for (const part of placement.parts) fleet.take(shape, part)
    this.started.set(workload, placement)
    this.lastStarted = workload
    const { budget, limitAt, milliUnits, preempted } = more
    this.decisions.push({
      type: 'WorkloadAdmitted',
      at: this.at,
      data: {
        alternative: alternative && { node: fleet.nodes[alternative.node]!.node, score: alternative.score },
        attempt: workload.attempt + 1,
        ...(budget !== undefined && { budget }),
        expectedEndAt: estimateMs === null ? null : ((this.at + estimateMs) as EpochMs),
        freeMilli,
        lease: placement.parts.map((part) => fleet.partNamed(part)),
        ...(limitAt !== undefined && { limitAt }),
        ...(milliUnits !== undefined && { milliUnits }),
        needMilli: shape.needMilli,
        ...(preempted === true && { preempted }),
        ...(workload.checkpointed && { resumes: true }),
        rule,
        score,
        waitedMs: (this.at - workload.submittedAt) as DurationMs,
        workload: workload.id,
      },
    } satisfies WorkloadAdmitted)
  }

  /** Ends of what runs and of what this pass started, soonest first. */
  private *expectedEnds(): Generator<ExpectedEnd> {
    const extra: ExpectedEnd[] = []
    for (const [workload, at] of this.overran) extra.push({ at, shape: workload.shape, parts: workload.run!.parts })
    for (const [workload, { parts }] of this.started) {
      const estimateMs = this.estimateOf(workload)
      if (estimateMs !== null) extra.push({ at: this.at + estimateMs, shape: workload.shape, parts })
    }
    extra.sort((a, b) => a.at - b.at)
    let i = 0
    for (const workload of this.cell.ends) {
      if (this.overran.has(workload)) continue
      const at = endOf(workload)
      while (i < extra.length && extra[i]!.at <= at) yield extra[i++]!
      yield { at, shape: workload.shape, parts: workload.run!.parts }
    }
    yield* extra.slice(i)
    yield* this.unknownEnds()
  }

  /** Ends of what runs and nobody knows for how long, in the order in which they are taken to come. */
  protected unknownEnds(): Iterable<ExpectedEnd> {
    return []
  }
}
