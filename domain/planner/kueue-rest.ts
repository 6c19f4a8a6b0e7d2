import type { Holdings } from '../kueue/holdings.ts'
import type { Line } from './line.ts'
import type { WaitingQueue } from './waiting-queue.ts'

/** A tree of queues that share quota, by its root. */
export interface KueueTree {
  readonly root: number
  readonly queues: ReadonlyArray<WaitingQueue>
}

/** Until what changes it is known that nothing comes of another look. */
interface Rest {
  /** Of the tree: counts who came and went. */
  readonly stamp: number
  /** Of the fleet: counts what came free; -1: it makes no difference. */
  readonly fleet: number
  /** From this instant on somebody may be evicted who was protected. */
  readonly until: number
}

/** Which trees and lines need no look, because nothing has changed since they had one. Changes no decision. */
export class KueueRest {
  readonly trees: ReadonlyArray<KueueTree>
  private readonly holdings: Holdings
  private readonly nodeOf: (queue: WaitingQueue) => number
  private readonly touches: Float64Array
  private fleet = 0
  private readonly resting = new Map<number, Rest & { readonly waits: number }>()
  private readonly waits: Float64Array
  private readonly parked = new Map<Line, Rest>()
  /** Trees in which somebody was found to lack a place. */
  private readonly placeless = new Set<number>()

  constructor(holdings: Holdings, queues: ReadonlyArray<WaitingQueue>, nodeOf: (queue: WaitingQueue) => number) {
    this.holdings = holdings
    this.nodeOf = nodeOf
    this.touches = new Float64Array(holdings.tree.nodes.length)
    this.waits = new Float64Array(holdings.tree.nodes.length)
    const byRoot = new Map<number, WaitingQueue[]>()
    for (const queue of queues) {
      const root = this.rootOf(queue)
      const known = byRoot.get(root)
      if (known === undefined) byRoot.set(root, [queue])
      else known.push(queue)
    }
    this.trees = Array.from(byRoot, ([root, members]) => ({ root, queues: members }))
  }

  rootOf(queue: WaitingQueue): number {
    return this.holdings.rootOf(this.nodeOf(queue))
  }

  /** Trees that need a look. */
  awakeAt(at: number): ReadonlyArray<KueueTree> {
    return this.trees.filter(({ root }) => {
      const rest = this.resting.get(root)
      return rest === undefined || rest.waits !== this.waits[root] || !this.lasts(rest, root, at)
    })
  }

  /** Nothing more comes of it as things stand. */
  restTree(root: number, until: number): void {
    const fleet = this.placeless.has(root) ? this.fleet : -1
    const before = this.resting.get(root)
    const stamp = this.stamp(root)
    const last = before?.stamp === stamp ? Math.min(until, before.until) : until
    this.resting.set(root, { stamp, fleet, until: last, waits: this.waits[root]! })
  }

  isParked(line: Line, root: number, at: number): boolean {
    const rest = this.parked.get(line)
    return rest !== undefined && this.lasts(rest, root, at)
  }

  park(line: Line, root: number, until: number, lacksPlace: boolean): void {
    if (lacksPlace) this.placeless.add(root)
    this.parked.set(line, { stamp: this.stamp(root), fleet: lacksPlace ? this.fleet : -1, until })
  }

  /** Its head lacks a place, and is not parked. */
  lacksPlace(root: number): void {
    this.placeless.add(root)
  }

  /** Another one is the first of the line now. */
  firstChanged(line: Line, queue: WaitingQueue): void {
    this.parked.delete(line)
    const node = this.nodeOf(queue)
    if (node >= 0) this.waits[this.holdings.rootOf(node)]!++
  }

  /** Who may be evicted there, or not, is other than before. */
  touch(queue: WaitingQueue): void {
    const node = this.nodeOf(queue)
    if (node >= 0) this.touches[this.holdings.rootOf(node)]!++
  }

  touchAll(): void {
    for (const { root } of this.trees) this.touches[root]!++
  }

  /** Something came free. */
  fleetChanged(): void {
    this.fleet++
  }

  private stamp(root: number): number {
    return this.holdings.version(root) + this.touches[root]!
  }

  private lasts({ stamp, fleet, until }: Rest, root: number, at: number): boolean {
    return stamp === this.stamp(root) && (fleet < 0 || fleet === this.fleet) && at < until
  }
}
