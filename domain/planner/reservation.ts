import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'

/** A running workload's end as it is expected: when, and what comes free. */
export interface ExpectedEnd {
  readonly at: number
  readonly shape: Shape
  readonly parts: Placement['parts']
}

/**
 * The place that is kept for the head of a queue: the earliest instant at which the fleet, as it will then be, holds it
 * whole. What starts before and runs beyond that instant must leave the place there.
 */
export class Reservation {
  readonly shape: Shape
  /** Infinity: nothing that runs is expected to make room. */
  readonly at: number
  private readonly shadow: Fleet

  /** `shadow` is a fleet to scribble on; `ends` come soonest first. */
  constructor(shape: Shape, fleet: Fleet, shadow: Fleet, ends: Iterable<ExpectedEnd>) {
    this.shape = shape
    this.shadow = shadow
    shadow.copyFrom(fleet)
    this.at = this.firstInstant(ends)
  }

  /** Whether a start that ends then may go ahead; if so and it runs beyond the instant, its devices count as taken. */
  allows(shape: Shape, placement: Placement, endAt: number): boolean {
    if (endAt <= this.at || this.at === Infinity) return true
    for (const part of placement.parts) this.shadow.take(shape, part)
    if (canPlace(this.shadow, this.shape)) return true
    for (const part of placement.parts) this.shadow.give(shape, part)
    return false
  }

  /** Takes back what `allows` counted. */
  retract(shape: Shape, placement: Placement, endAt: number): void {
    if (endAt <= this.at || this.at === Infinity) return
    for (const part of placement.parts) this.shadow.give(shape, part)
  }

  /** All ends of one instant come free together. */
  private firstInstant(ends: Iterable<ExpectedEnd>): number {
    let instant = -1
    for (const { at, shape, parts } of ends) {
      if (instant >= 0 && at > instant && canPlace(this.shadow, this.shape)) return instant
      instant = at
      for (const part of parts) this.shadow.give(shape, part)
    }
    return instant >= 0 && canPlace(this.shadow, this.shape) ? instant : Infinity
  }
}
