import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { ClassPolicy } from '../policy/budget-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import { LeafOrder } from './leaf-order.ts'
import type { Line } from './line.ts'
import type { Workload } from './workload.ts'

/** A line, and what one pass makes of it. */
export interface Turn {
  readonly node: number
  readonly line: Line
  /** Whose turn it is, while it is open. */
  workload: Workload
  /** Whether anybody of the line is asked yet. */
  isOpen: boolean
  /** Why the first of the line does not start, where that was found out in this pass. */
  block: Block | null
  /** It fitted when the pass began, and no longer. */
  isOutrun: boolean
}

/**
 * Who is next, of the lines that are put in: down from the root, at each level the child that was served least of what
 * it is owed; within a leaf by class, age and id.
 */
export class ShareWalk {
  private readonly books: Books
  private readonly leafOrder: LeafOrder
  /** By node. */
  private readonly turns: (Turn[] | undefined)[] = []
  private readonly nodes = new Set<number>()
  /** Children with turns below them, by node. */
  private readonly open: (Set<number> | undefined)[] = []
  /** Oldest turn at or below a node; what is not here is worked out anew. */
  private readonly oldest: (number | undefined)[] = []

  constructor(books: Books, classes: ReadonlyMap<string, ClassPolicy>, at: EpochMs) {
    this.books = books
    this.leafOrder = new LeafOrder(classes, at)
  }

  /** All are put in before anybody is asked for. */
  put(turn: Turn, workload: Workload): void {
    const { node } = turn
    turn.workload = workload
    turn.isOpen = true
    const turns = this.turns[node]
    if (turns !== undefined) turns.push(turn)
    else {
      this.turns[node] = [turn]
      this.nodes.add(node)
      this.enter(node)
    }
  }

  /** The line's turn is this workload's now; null: nobody's. */
  pass(turn: Turn, workload: Workload | null): void {
    const { node } = turn
    for (const above of this.books.upwards(node)) this.oldest[above] = undefined
    if (workload !== null) {
      turn.workload = workload
      return
    }
    turn.isOpen = false
    const turns = this.turns[node]!
    turns.splice(turns.indexOf(turn), 1)
    if (turns.length > 0) return
    this.turns[node] = undefined
    this.nodes.delete(node)
    this.exit(node)
  }

  /** Whose turn it is; null: nobody is left. */
  next(): Turn | null {
    if (this.nodes.size === 0) return null
    if (this.books.order.isFlat) return this.firstOf(this.best(0, this.nodes))
    let node = 0
    for (let below = this.open[node]; below !== undefined; below = this.open[node]) node = this.best(node, below)
    return this.firstOf(node)
  }

  private firstOf(node: number): Turn {
    let first: Turn | null = null
    for (const turn of this.turns[node]!)
      if (first === null || this.leafOrder.isBefore(turn.workload, first.workload)) first = turn
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
    const known = this.oldest[node]
    if (known !== undefined) return known
    let oldest = Infinity
    for (const child of this.open[node] ?? []) oldest = Math.min(oldest, this.oldestOf(child))
    for (const { workload } of this.turns[node] ?? []) oldest = Math.min(oldest, workload.seq)
    this.oldest[node] = oldest
    return oldest
  }

  private enter(node: number): void {
    const parent = this.books.ledger.parent(node)
    if (parent < 0) return
    const siblings = this.open[parent]
    if (siblings !== undefined) siblings.add(node)
    else {
      this.open[parent] = new Set([node])
      this.enter(parent)
    }
  }

  private exit(node: number): void {
    const parent = this.books.ledger.parent(node)
    if (parent < 0) return
    const siblings = this.open[parent]!
    siblings.delete(node)
    if (siblings.size > 0) return
    this.open[parent] = undefined
    this.exit(parent)
  }
}
