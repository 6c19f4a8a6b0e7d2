import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'

/** A running workload's end as it is expected: when, and what comes free. */
export interface ExpectedEnd {
  readonly at: number
  readonly shape: Shape
  readonly parts: Placement['parts']
}

const unknownFrom = 2 ** 52

/** Instants behind all that are known: of runs whose end nobody knows, the longest is taken to end first. */
export const unknownEnd = (startedAt: number): number => unknownFrom + startedAt

/**
 * The place that is kept for the head of a queue: the earliest instant at which the fleet, as it will then be, holds it
 * whole. What starts before and runs beyond that instant must leave the place there.
 */
export class Reservation {
  readonly shape: Shape
  /** Infinity: nobody knows when, or nothing that runs makes room. */
  readonly at: number
  /** The same, with instants that are not known behind all others; Infinity: there is nothing to keep. */
  readonly until: number
  private readonly shadow: Fleet
  private readonly spare: number

  /** `shadow` is a fleet to scribble on; `ends` come soonest first; so many whole devices beside stay `spare`. */
  constructor(shape: Shape, fleet: Fleet, shadow: Fleet, ends: Iterable<ExpectedEnd>, spare = 0) {
    this.shape = shape
    this.shadow = shadow
    this.spare = spare
    shadow.copyFrom(fleet)
    this.until = this.firstInstant(ends)
    this.at = this.until < unknownFrom ? this.until : Infinity
  }

  /**
   * Whether a start that ends then may go ahead; if so and it runs beyond the instant, its devices count as taken.
   * @param leaving who makes room for it, and would have ended when
   */
  allows(shape: Shape, placement: Placement, endAt: number, leaving: ReadonlyArray<ExpectedEnd> = []): boolean {
    if (endAt <= this.until || this.until === Infinity) return true
    this.makeRoom(leaving, true)
    for (const part of placement.parts) this.shadow.take(shape, part)
    if (this.fits()) return true
    this.retract(shape, placement, endAt, leaving)
    return false
  }

  /** Takes back what `allows` counted. */
  retract(shape: Shape, placement: Placement, endAt: number, leaving: ReadonlyArray<ExpectedEnd> = []): void {
    if (endAt <= this.until || this.until === Infinity) return
    for (const part of placement.parts) this.shadow.give(shape, part)
    this.makeRoom(leaving, false)
  }

  /** Who would still be there at the instant is not, or is again. */
  private makeRoom(leaving: ReadonlyArray<ExpectedEnd>, gone: boolean): void {
    for (const { at, shape, parts } of leaving) {
      if (at <= this.until) continue
      for (const part of parts) {
        if (gone) this.shadow.give(shape, part)
        else this.shadow.take(shape, part)
      }
    }
  }

  /**
   * What comes free only makes more room: it is tried after strides of instants, each an eighth of what has come so far,
   * and where it then fits the earliest instant of the last stride is searched by halves.
   */
  private firstInstant(ends: Iterable<ExpectedEnd>): number {
    let stride: Instant[] = []
    let come = 0
    for (const instant of instantsOf(ends)) {
      this.give(instant)
      stride.push(instant)
      come++
      if (8 * stride.length < come) continue
      if (this.fits()) return this.earliestOf(stride)
      stride = []
    }
    return stride.length > 0 && this.fits() ? this.earliestOf(stride) : Infinity
  }

  /** Of instants that have all come, the first with which it fits; what comes after that one is taken back. */
  private earliestOf(instants: ReadonlyArray<Instant>): number {
    let come = instants.length
    const goTo = (count: number) => {
      while (come > count) this.takeBack(instants[--come]!)
      while (come < count) this.give(instants[come++]!)
    }
    let low = 0
    let high = instants.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      goTo(middle + 1)
      if (this.fits()) high = middle
      else low = middle + 1
    }
    goTo(low + 1)
    return instants[low]!.at
  }

  private fits(): boolean {
    const { request } = this.shape
    return (
      (this.spare === 0 || this.shadow.wholeTotal - request.devices >= this.spare) && canPlace(this.shadow, this.shape)
    )
  }

  private give({ ends }: Instant): void {
    for (const { shape, parts } of ends) for (const part of parts) this.shadow.give(shape, part)
  }

  private takeBack({ ends }: Instant): void {
    for (const { shape, parts } of ends) for (const part of parts) this.shadow.take(shape, part)
  }
}

/** Ends that come at once. */
interface Instant {
  readonly at: number
  readonly ends: ReadonlyArray<ExpectedEnd>
}

function* instantsOf(ends: Iterable<ExpectedEnd>): Generator<Instant> {
  let together: ExpectedEnd[] = []
  for (const end of ends) {
    const [first] = together
    if (first !== undefined && end.at > first.at) {
      yield { at: first.at, ends: together }
      together = []
    }
    together.push(end)
  }
  const [first] = together
  if (first !== undefined) yield { at: first.at, ends: together }
}
