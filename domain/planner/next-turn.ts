import type { EpochMs } from '../kernel/units.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { endOf } from './end-index.ts'
import { exceptedUntil, protectedUntil } from './protection.ts'

/** The earliest instant at which something changes for who waits at a node of the budget tree. */
export interface NextTurn {
  readonly at: EpochMs
  readonly because: 'protected-window' | 'exception' | 'reservation' | 'expected-end'
  /** Whose window, exception, place or end it is. */
  readonly workload: string
}

/** Looks for turns at one instant; what is asked of the same siblings twice is worked out once. */
export class NextTurns {
  private readonly cell: Cell
  private readonly books: Books
  private readonly windows = new Map<number, NextTurn | null>()
  private end: NextTurn | null | undefined

  constructor(cell: Cell, books: Books) {
    this.cell = cell
    this.books = books
  }

  /**
   * Where the node is behind, and holds nothing or would hold `rate` more within what it is entitled to: the earliest of a protected window
   * that ends beside it, a place that is kept for it, and an expected end of anything. Else the earliest expected ends of
   * its own after which it would. Null: nothing of that is known.
   */
  of(node: number, rate: number): NextTurn | null {
    const { ledger } = this.books
    const isWithin = ledger.held(node) + rate <= ledger.entitled(node)
    // What holds nothing is let have one, however large.
    if (!ledger.isBehind(node) || (!isWithin && ledger.held(node) > 0)) return this.ownEnd(node, rate)
    const parent = ledger.parent(node)
    return earliest([this.place(node), this.soonestEnd(), parent < 0 ? null : this.window(parent)])
  }

  /** When all of these nodes have had theirs. Null: of one of them nothing is known. */
  ofAll(nodes: ReadonlyArray<number>, rate: number): NextTurn | null {
    let last: NextTurn | null = null
    for (const node of nodes) {
      const turn = this.of(node, rate)
      if (turn === null) return null
      if (last === null || turn.at > last.at) last = turn
    }
    return last
  }

  /** First to end of those that run at children of `parent` which hold more than they are entitled to. */
  private window(parent: number): NextTurn | null {
    const known = this.windows.get(parent)
    if (known !== undefined) return known
    const { ledger } = this.books
    let first: NextTurn | null = null
    for (const child of ledger.children(parent)) {
      if (ledger.held(child) <= ledger.entitled(child)) continue
      for (const workload of this.books.runningBelow(child)) {
        const { now, policy } = this.cell
        const window = protectedUntil(policy, workload, workload.run!)
        const excepted = exceptedUntil(policy, workload, now) ?? 0
        const at = Math.max(window, excepted)
        if (at > now && at < (first?.at ?? Infinity)) {
          const because = excepted > window ? 'exception' : 'protected-window'
          first = { at: at as EpochMs, because, workload: workload.id }
        }
      }
    }
    this.windows.set(parent, first)
    return first
  }

  private place(node: number): NextTurn | null {
    let first: NextTurn | null = null
    for (const [workload, { decision }] of this.cell.places) {
      const { account } = this.cell.workloads.get(workload)!
      if (account === null || !this.books.upwards(account.node).includes(node)) continue
      if (decision.holdUntil < (first?.at ?? Infinity))
        first = { at: decision.holdUntil, because: 'reservation', workload }
    }
    return first
  }

  private soonestEnd(): NextTurn | null {
    if (this.end !== undefined) return this.end
    this.end = null
    for (const workload of this.cell.ends)
      if (endOf(workload) > this.cell.now) {
        this.end = { at: endOf(workload), because: 'expected-end', workload: workload.id }
        break
      }
    return this.end
  }

  private ownEnd(node: number, rate: number): NextTurn | null {
    const { ledger } = this.books
    let over = ledger.held(node) + rate - ledger.entitled(node)
    const running = [...this.books.runningBelow(node)].filter(({ run }) => run!.expectedEndAt !== null)
    running.sort((a, b) => endOf(a) - endOf(b) || a.seq - b.seq)
    for (const workload of running) {
      over -= workload.account!.rate
      if (over <= 0 && endOf(workload) > this.cell.now)
        return { at: endOf(workload), because: 'expected-end', workload: workload.id }
    }
    return null
  }
}

const earliest = (turns: ReadonlyArray<NextTurn | null>): NextTurn | null =>
  turns.reduce((first, turn) => (turn !== null && turn.at < (first?.at ?? Infinity) ? turn : first), null)
