import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { ClassPolicy } from '../policy/budget-policy.ts'
import type { Books } from './books.ts'
import { LeafOrder } from './leaf-order.ts'
import type { Line } from './line.ts'
import type { Workload } from './workload.ts'

/** A line that somebody may start from, with the one whose turn it is. */
export interface Turn {
  readonly node: number
  readonly line: Line
  readonly workload: Workload
}

/**
 * Who is next, of the lines that are put in: down from the root, at each level the child that was served least of what
 * it is owed; within a leaf by class, age and id.
 */
export class ShareWalk {
  private readonly books: Books
  private readonly leafOrder: LeafOrder
  private readonly turns = new Map<number, Map<Line, Workload>>()
  /** Children with turns below them, by node. */
  private readonly open = new Map<number, Set<number>>()
  /** Oldest turn at or below a node; what is not here is worked out anew. */
  private readonly oldest = new Map<number, number>()

  constructor(books: Books, classes: ReadonlyMap<string, ClassPolicy>, at: EpochMs) {
    this.books = books
    this.leafOrder = new LeafOrder(classes, at)
  }

  /** The line's turn is this workload's; null: nobody's. */
  put(node: number, line: Line, workload: Workload | null): void {
    if (this.oldest.size > 0) for (const above of this.books.upwards(node)) this.oldest.delete(above)
    let turns = this.turns.get(node)
    if (workload !== null) {
      if (turns === undefined) {
        turns = new Map<Line, Workload>()
        this.turns.set(node, turns)
        this.enter(node)
      }
      turns.set(line, workload)
    } else if (turns !== undefined) {
      turns.delete(line)
      if (turns.size === 0) {
        this.turns.delete(node)
        this.exit(node)
      }
    }
  }

  turnOf(node: number, line: Line): Workload | null {
    return this.turns.get(node)?.get(line) ?? null
  }

  /** Whose turn it is; null: nobody is left. */
  next(): Turn | null {
    if (this.turns.size === 0) return null
    if (this.books.order.isFlat) return this.firstOf(this.best(0, new Set(this.turns.keys())))
    let node = 0
    for (let below = this.open.get(node); below !== undefined; below = this.open.get(node))
      node = this.best(node, below)
    return this.firstOf(node)
  }

  private firstOf(node: number): Turn {
    let first: Turn | null = null
    for (const [line, workload] of this.turns.get(node)!)
      if (first === null || this.leafOrder.isBefore(workload, first.workload)) first = { node, line, workload }
    assert(first !== null, 'a node with turns has a first')
    return first
  }

  private best(parent: number, below: ReadonlySet<number>): number {
    const { order } = this.books
    const byCredit = order.isUnallocated(parent, below)
    let best = -1
    for (const child of below) if (best < 0 || this.goesBefore(child, best, byCredit)) best = child
    return best
  }

  private goesBefore(a: number, b: number, byCredit: boolean): boolean {
    const { ledger, order } = this.books
    const credit = byCredit ? ledger.compareCredit(a, b) : 0
    if (credit !== 0) return credit < 0
    const served = order.compare(a, b)
    if (served !== 0) return served < 0
    const age = this.oldestOf(a) - this.oldestOf(b)
    return age !== 0 ? age < 0 : ledger.path(a) < ledger.path(b)
  }

  private oldestOf(node: number): number {
    const known = this.oldest.get(node)
    if (known !== undefined) return known
    let oldest = Infinity
    for (const child of this.open.get(node) ?? []) oldest = Math.min(oldest, this.oldestOf(child))
    for (const { seq } of this.turns.get(node)?.values() ?? []) oldest = Math.min(oldest, seq)
    this.oldest.set(node, oldest)
    return oldest
  }

  private enter(node: number): void {
    const parent = this.books.ledger.parent(node)
    if (parent < 0) return
    const siblings = this.open.get(parent)
    if (siblings !== undefined) siblings.add(node)
    else {
      this.open.set(parent, new Set([node]))
      this.enter(parent)
    }
  }

  private exit(node: number): void {
    const parent = this.books.ledger.parent(node)
    if (parent < 0) return
    const siblings = this.open.get(parent)!
    siblings.delete(node)
    if (siblings.size > 0) return
    this.open.delete(parent)
    this.exit(parent)
  }
}
