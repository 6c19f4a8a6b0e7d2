import type { Books } from './books.ts'
import type { VictimOption } from './victim-option.ts'

/** How much may still be taken from whom, while a set of victims is put together. */
export interface Room {
  /** Nothing has been taken yet. */
  readonly reset: () => void
  /** @param before what the same victim gives already, which this replaces */
  readonly allows: (option: VictimOption, before?: VictimOption) => boolean
  readonly take: (option: VictimOption, before?: VictimOption) => void
}

/**
 * A side gives only while it holds more than it is entitled to, so that it ends below by less than one victim; below the
 * level where the paths part, every node on a victim's way may lack one victim.
 */
export class SideRoom implements Room {
  private readonly books: Books
  /** Milli-units that leave already, by node. */
  private readonly leaving: ReadonlyMap<number, number>
  /** The node that each victim's path parts at, on its side, by the victim's id. */
  private readonly sideOf: ReadonlyMap<string, number>
  private readonly teamLeft: (team: string) => number
  private readonly cellLeft: number
  private readonly lossMax: number
  private readonly taken = new Map<number, number>()
  private readonly ofTeam = new Map<string, number>()
  private stops = 0
  private loss = 0

  constructor(
    books: Books,
    leaving: ReadonlyMap<number, number>,
    sideOf: ReadonlyMap<string, number>,
    limits: { readonly teamLeft: (team: string) => number; readonly cellLeft: number; readonly lossMax: number },
  ) {
    this.books = books
    this.leaving = leaving
    this.sideOf = sideOf
    this.teamLeft = limits.teamLeft
    this.cellLeft = limits.cellLeft
    this.lossMax = limits.lossMax
  }

  reset(): void {
    this.taken.clear()
    this.ofTeam.clear()
    this.stops = 0
    this.loss = 0
  }

  allows({ workload, rate, keeps, loss }: VictimOption, before?: VictimOption): boolean {
    if (keeps === null) {
      if (this.stops >= this.cellLeft) return false
      if ((this.ofTeam.get(workload.team) ?? 0) >= this.teamLeft(workload.team)) return false
      if (this.loss + loss > this.lossMax) return false
    }
    const side = this.sideOf.get(workload.id)!
    const { ledger } = this.books
    for (const node of this.books.upwards(workload.account!.node)) {
      const left = ledger.held(node) - (this.leaving.get(node) ?? 0) - (this.taken.get(node) ?? 0) + (before?.rate ?? 0)
      if (node === side) return left > ledger.entitled(node)
      if (left + rate <= ledger.entitled(node)) return false
    }
    return false
  }

  take({ workload, rate, keeps, loss }: VictimOption, before?: VictimOption): void {
    const side = this.sideOf.get(workload.id)!
    for (const node of this.books.upwards(workload.account!.node)) {
      this.taken.set(node, (this.taken.get(node) ?? 0) + rate - (before?.rate ?? 0))
      if (node === side) break
    }
    if (keeps !== null) return
    this.stops++
    this.loss += loss
    this.ofTeam.set(workload.team, (this.ofTeam.get(workload.team) ?? 0) + 1)
  }
}
