import type { Books } from './books.ts'
import { EvictionRoom, type RoomLimits } from './eviction-room.ts'
import type { VictimOption } from './victim-option.ts'

/**
 * A side gives only while it holds more than it is entitled to, so that it ends below by less than one victim; below the
 * level where the paths part, every node on a victim's way may lack one victim.
 */
export class SideRoom extends EvictionRoom {
  private readonly books: Books
  /** Milli-units that leave already, by node. */
  private readonly leaving: ReadonlyMap<number, number>
  /** The node that each victim's path parts at, on its side, by the victim's id. */
  private readonly sideOf: ReadonlyMap<string, number>
  private readonly taken = new Map<number, number>()

  constructor(
    books: Books,
    leaving: ReadonlyMap<number, number>,
    sideOf: ReadonlyMap<string, number>,
    limits: RoomLimits,
  ) {
    super(limits)
    this.books = books
    this.leaving = leaving
    this.sideOf = sideOf
  }

  override reset(): void {
    super.reset()
    this.taken.clear()
  }

  override allows(option: VictimOption, before?: VictimOption): boolean {
    if (!super.allows(option)) return false
    const { workload, rate } = option
    const side = this.sideOf.get(workload.id)!
    const { ledger } = this.books
    for (const node of this.books.upwards(workload.account!.node)) {
      const left = ledger.held(node) - (this.leaving.get(node) ?? 0) - (this.taken.get(node) ?? 0) + (before?.rate ?? 0)
      if (node === side) return left > ledger.entitled(node)
      if (left + rate <= ledger.entitled(node)) return false
    }
    return false
  }

  override take(option: VictimOption, before?: VictimOption): void {
    super.take(option)
    const { workload, rate } = option
    const side = this.sideOf.get(workload.id)!
    for (const node of this.books.upwards(workload.account!.node)) {
      this.taken.set(node, (this.taken.get(node) ?? 0) + rate - (before?.rate ?? 0))
      if (node === side) break
    }
  }
}
