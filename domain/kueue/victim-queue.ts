import type { QuotaTree } from '../quota/quota-tree.ts'
import { candidateOrder, inCandidateOrder } from './candidate-order.ts'
import { compareShares, dominantShare, type DominantShare } from './dominant-share.ts'
import type { Holder } from './holdings.ts'

/**
 * Which queue loses next: from the root down to the child with the highest share, with what the tree counts as used
 * now. Children that do not borrow are out of it, except those that the preemptor is in.
 */
export class VictimQueues {
  private readonly tree: QuotaTree
  private readonly preemptorQueue: number
  /** In no order until the queue's turn comes; then last first, so that the next is popped. */
  private readonly left = new Map<number, Holder[]>()
  private readonly ordered = new Set<number>()
  /** Children below which there are candidates, per cohort, in the order of their names. */
  private readonly branches = new Map<number, number[]>()
  private readonly root: number
  private readonly own = new Set<number>()

  constructor(tree: QuotaTree, preemptorQueue: number, candidates: ReadonlyArray<Holder>) {
    this.tree = tree
    this.preemptorQueue = preemptorQueue
    for (const holder of candidates) {
      const known = this.left.get(holder.queue)
      if (known === undefined) this.left.set(holder.queue, [holder])
      else known.push(holder)
    }
    let root = preemptorQueue
    for (let node = preemptorQueue; node >= 0; node = tree.parent[node]!) this.own.add((root = node))
    this.root = root
    for (const queue of this.left.keys()) this.branchTo(queue)
    for (const children of this.branches.values())
      children.sort((a, b) => (tree.nodes[a]!.name < tree.nodes[b]!.name ? -1 : 1))
  }

  /** Null: no queue has candidates left that may be taken. Changes nothing but what can never be chosen again. */
  next(): number | null {
    for (;;) {
      if (this.root === this.preemptorQueue) return this.left.has(this.root) ? this.root : null
      if (!this.branches.has(this.root)) return null
      let node = this.root
      while (this.branches.has(node)) {
        const child = this.highest(node)
        if (child !== null) {
          node = child
          continue
        }
        this.cut(node)
        break
      }
      if (this.left.has(node)) return node
    }
  }

  /** The next candidate of a queue that `next` named, which is then no candidate any more. */
  pop(queue: number): Holder | undefined {
    if (!this.left.has(queue)) return undefined
    const holders = this.inOrder(queue)
    const holder = holders.pop()
    if (holders.length === 0) this.drop(queue)
    return holder
  }

  /** None of its candidates is to be taken. */
  drop(queue: number): void {
    if (this.left.delete(queue) && queue !== this.root) this.cut(queue)
  }

  private highest(cohort: number): number | null {
    let queue: number | null = null
    let queueShare: DominantShare | null = null
    let below: number | null = null
    let belowShare: DominantShare | null = null
    for (const child of [...this.branches.get(cohort)!]) {
      const share = dominantShare(this.tree, child)
      if (!share.borrowing && !this.own.has(child)) this.cut(child)
      else if (this.tree.nodes[child]!.kind === 'cohort') {
        if (belowShare !== null && compareShares(share, belowShare) <= 0) continue
        ;[below, belowShare] = [child, share]
      } else {
        const order = queueShare === null ? 1 : compareShares(share, queueShare)
        if (order < 0 || (order === 0 && !this.comesFirst(child, queue!))) continue
        ;[queue, queueShare] = [child, share]
      }
    }
    if (belowShare === null || queueShare === null) return below ?? queue
    return compareShares(belowShare, queueShare) >= 0 ? below : queue
  }

  private comesFirst(a: number, b: number): boolean {
    return candidateOrder(this.preemptorQueue)(this.inOrder(a).at(-1)!, this.inOrder(b).at(-1)!) < 0
  }

  private inOrder(queue: number): Holder[] {
    const holders = this.left.get(queue)!
    if (this.ordered.has(queue)) return holders
    const sorted = inCandidateOrder(holders, this.preemptorQueue, (holder) => holder).reverse()
    this.ordered.add(queue)
    this.left.set(queue, sorted)
    return sorted
  }

  private branchTo(queue: number): void {
    for (let node = queue; node !== this.root; node = this.tree.parent[node]!) {
      const parent = this.tree.parent[node]!
      const known = this.branches.get(parent)
      if (known === undefined) this.branches.set(parent, [node])
      else {
        if (!known.includes(node)) known.push(node)
        else return
      }
    }
  }

  /** Takes a child out of the choice, and every cohort that is left without one. */
  private cut(node: number): void {
    this.branches.delete(node)
    this.left.delete(node)
    if (node === this.root) return
    const parent = this.tree.parent[node]!
    const siblings = this.branches.get(parent)?.filter((one) => one !== node)
    if (siblings === undefined) return
    if (siblings.length === 0) this.cut(parent)
    else this.branches.set(parent, siblings)
  }
}
