import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { Cell } from './cell.ts'

/**
 * What is about to come free because somebody was asked to leave it, for whatever cause: the devices that no kept place
 * takes are anybody's, and whoever fits there need not evict.
 */
export class Leavers {
  private readonly cell: Cell
  private readonly frees: { readonly shape: Shape; readonly parts: Placement['parts'] }[] = []
  /** Thousandths that kept places take, by node and device. */
  private readonly kept = new Map<string, number>()

  constructor(cell: Cell) {
    this.cell = cell
    for (const { parts } of cell.places.values()) this.keep(parts)
    for (const { shape, run } of [...cell.leaving].sort((a, b) => a.seq - b.seq)) {
      const open = run!.open!
      // Silence frees nothing: who has not left in time is not about to.
      if (open.because === 'stop-expired') continue
      this.add(shape, partsBeyond(run!.parts, open.keeps?.map((part) => cell.fleet.partNumbered(part)) ?? []))
    }
  }

  add(shape: Shape, parts: Placement['parts']): void {
    this.frees.push({ shape, parts })
  }

  keep(parts: Placement['parts']): void {
    for (const [key, milli] of milliBy(parts)) this.kept.set(key, (this.kept.get(key) ?? 0) + milli)
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

const milliBy = (parts: Placement['parts']): Map<string, number> =>
  new Map(parts.flatMap(({ node, devices, milli }) => devices.map((device) => [`${node} ${device}`, milli] as const)))

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
