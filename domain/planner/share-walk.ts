import { assert } from '../kernel/decider.ts'
import { cellNode } from '../budget/ledger.ts'
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
  /** Open turns at a node and below it. */
  private readonly counts: (number | undefined)[] = []
  /** Children with turns at or below them, by node, and some that had. */
  private readonly below: (number[] | undefined)[] = []
  /** Nodes with turns of their own, and some that had. */
  private readonly own: number[] = []
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
      this.own.push(node)
    }
    for (const above of this.books.upwards(node)) this.enter(above)
  }

  /** The line's turn is this workload's now; null: nobody's. */
  pass(turn: Turn, workload: Workload | null): void {
    const { node } = turn
    for (const above of this.books.upwards(node)) {
      this.oldest[above] = undefined
      if (workload === null) this.counts[above]!--
    }
    if (workload !== null) {
      turn.workload = workload
      return
    }
    turn.isOpen = false
    const turns = this.turns[node]!
    turns[turns.indexOf(turn)] = turns.at(-1)!
    turns.pop()
  }

  /** Whose turn it is; null: nobody is left. */
  next(): Turn | null {
    if ((this.counts[cellNode] ?? 0) === 0) return null
    if (this.books.order.isFlat) return this.firstOf(this.best(cellNode, this.stillOpen(this.own)))
    let node = cellNode
    for (let below = this.below[node]; below !== undefined; below = this.below[node])
      node = this.best(node, this.stillOpen(below))
    return this.firstOf(node)
  }

  /** Drops the others. */
  private stillOpen(nodes: number[]): ReadonlyArray<number> {
    let count = 0
    for (const node of nodes) if (this.counts[node]! > 0) nodes[count++] = node
    nodes.length = count
    return nodes
  }

  private firstOf(node: number): Turn {
    let first: Turn | null = null
    for (const turn of this.turns[node]!)
      if (first === null || this.leafOrder.isBefore(turn.workload, first.workload)) first = turn
    assert(first !== null, 'a node with turns has a first')
    return first
  }

  private best(parent: number, below: ReadonlyArray<number>): number {
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
    for (const child of this.below[node] ?? []) oldest = Math.min(oldest, this.oldestOf(child))
    for (const { workload } of this.turns[node] ?? []) oldest = Math.min(oldest, workload.seq)
    this.oldest[node] = oldest
    return oldest
  }

  private enter(node: number): void {
    const count = this.counts[node] ?? 0
    this.counts[node] = count + 1
    const parent = this.books.ledger.parent(node)
    if (count > 0 || parent < 0) return
    const siblings = this.below[parent]
    if (siblings === undefined) this.below[parent] = [node]
    else siblings.push(node)
  }
}
