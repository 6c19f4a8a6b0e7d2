import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { Cell } from './cell.ts'
import type { Gathering } from './gathering.ts'

/**
 * What is about to come free because somebody was asked to leave it, for whatever cause: the devices that no kept place
 * takes are anybody's, and whoever fits there need not evict.
 */
export class Leavers {
  private readonly cell: Cell
  private readonly frees: { readonly shape: Shape; readonly parts: Placement['parts'] }[] = []
  /** Thousandths that places took as the pass began, and that were kept since, by node and device. */
  private readonly kept = new Map<string, number>()
  private readonly places = new Set<Gathering>()
  /** Thousandths that kept places lack still, and nobody is about to leave, by node and device; null: not worked out. */
  private awaited: ReadonlyMap<string, number> | null = null

  constructor(cell: Cell) {
    this.cell = cell
    for (const place of cell.places.values()) this.keep(place)
    for (const { shape, run } of [...cell.leaving].sort((a, b) => a.seq - b.seq)) {
      const open = run!.open!
      // Silence frees nothing: who has not left in time is not about to.
      if (open.because === 'stop-expired') continue
      this.add(shape, partsBeyond(run!.parts, open.keeps?.map((part) => cell.fleet.partNumbered(part)) ?? []))
    }
  }

  add(shape: Shape, parts: Placement['parts']): void {
    this.frees.push({ shape, parts })
    this.awaited = null
  }

  keep(place: Gathering): void {
    for (const [key, milli] of milliBy(place.parts)) this.kept.set(key, (this.kept.get(key) ?? 0) + milli)
    this.places.add(place)
    this.awaited = null
  }

  /** It is kept no longer. */
  open(place: Gathering): void {
    this.places.delete(place)
    this.awaited = null
  }

  /** What is anybody's of these once their holder has left: kept places that lack them still come first. */
  beside(parts: Placement['parts']): Placement['parts'] {
    if (this.places.size === 0) return parts
    this.awaited ??= this.stillLacking()
    return this.awaited.size === 0 ? parts : without(parts, new Map(this.awaited))
  }

  private stillLacking(): ReadonlyMap<string, number> {
    const coming = milliBy(this.frees.flatMap(({ parts }) => parts))
    return milliBy([...this.places].flatMap(({ lacking }) => without(lacking, coming)))
  }

  /** Whether it fits beside what is free now once they have left. */
  makeRoomFor(shape: Shape): boolean {
    return this.whenGone(() => canPlace(this.cell.fleet, shape)) === true
  }

  /** What is found once they have left; null: there are none. The fleet is left as it was found. */
  whenGone<A>(look: () => A): A | null {
    if (this.frees.length === 0) return null
    const { fleet } = this.cell
    const kept = new Map(this.kept)
    const left = this.frees.map((each) => ({ ...each, parts: without(each.parts, kept) }))
    for (const each of left) for (const part of each.parts) fleet.give(each.shape, part)
    const found = look()
    for (const each of left) for (const part of each.parts) fleet.take(each.shape, part)
    return found
  }
}

/** What somebody gives back who keeps these. */
export const partsBeyond = (parts: Placement['parts'], keeps: Placement['parts']): Placement['parts'] =>
  without(parts, milliBy(keeps))

/** By node and device. */
const milliBy = (parts: Placement['parts']): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { node, devices, milli } of parts)
    for (const device of devices) sums.set(`${node} ${device}`, (sums.get(`${node} ${device}`) ?? 0) + milli)
  return sums
}

/** Device by device, less what is taken of it, which is taken off there. */
const without = (parts: Placement['parts'], taken: Map<string, number>): Placement['parts'] =>
  parts.flatMap((part) =>
    part.devices.flatMap((device) => {
      const key = `${part.node} ${device}`
      const gone = Math.min(part.milli, taken.get(key) ?? 0)
      if (gone > 0) taken.set(key, taken.get(key)! - gone)
      return gone === part.milli ? [] : [{ ...part, devices: [device], milli: part.milli - gone }]
    }),
  )
