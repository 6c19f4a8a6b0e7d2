import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import { unusedLocal } from './borrow-level.ts'
import { compareStanding, type CycleOrder, type Standing } from './cycle-order.ts'
import { compareShares, dominantShare, type DominantShare } from './dominant-share.ts'

/** A head and what it asks for. */
export interface Contestant extends Standing {
  /** Number of its queue: one contestant each. */
  readonly queue: number
  readonly usage: Usage
  readonly isPreemptor: boolean
}

/** Who stands for a node, and how the node would stand with what that one asks for. */
interface Champion<C> {
  readonly contestant: C
  /** The node would use more than its own of what the contestant asks for, be it that none of that arrives here. */
  readonly borrows: boolean
  readonly share: DominantShare
  /** What the node cannot take into the part that nobody else can use: its parent would carry it. */
  readonly rest: Usage
}

/**
 * Order of heads with fair sharing. In each cohort the children's champions meet: who does not borrow what it asks for
 * goes first, then who would have the lower share. Each pick follows what the tree holds by then; only nodes on the way
 * from the last one's queue to its root are looked at again, for nothing else can have changed.
 */
export class FairTournament<C extends Contestant> {
  private readonly tree: QuotaTree
  private readonly order: CycleOrder
  private readonly waiting = new Map<number, C>()
  private readonly champions: (Champion<C> | null)[]
  /** Those that still have a champion, the one to be emptied next at the end. */
  private readonly roots: number[]
  private last: C | null = null

  constructor(tree: QuotaTree, contestants: Iterable<C>, order: CycleOrder) {
    this.tree = tree
    this.order = order
    this.champions = tree.nodes.map(() => null)
    for (const contestant of contestants) this.waiting.set(contestant.queue, contestant)
    const touched = new Set<number>()
    for (const queue of this.waiting.keys())
      for (let node = queue; node >= 0 && !touched.has(node); node = tree.parent[node]!) touched.add(node)
    const lowestFirst = [...touched].sort((a, b) => tree.depth[b]! - tree.depth[a]! || a - b)
    for (const node of lowestFirst) this.champions[node] = this.championOf(node)
    this.roots = lowestFirst
      .filter((node) => tree.parent[node]! < 0)
      .sort((a, b) => compareStanding(this.champions[b]!.contestant, this.champions[a]!.contestant, order))
  }

  /** Whose turn it is now; null: everybody has had theirs. */
  next(): C | null {
    if (this.last !== null)
      for (let node = this.last.queue; node >= 0; node = this.tree.parent[node]!)
        this.champions[node] = this.championOf(node)
    for (;;) {
      const root = this.roots.at(-1)
      if (root === undefined) return null
      const champion = this.champions[root] ?? null
      if (champion !== null) {
        this.last = champion.contestant
        this.waiting.delete(this.last.queue)
        return this.last
      }
      this.roots.pop()
    }
  }

  /** Who stands for the children of a cohort as things are, in order; -1: for the roots, whose turns come one by one. */
  meeting(
    parent: number,
  ): ReadonlyArray<Pick<Champion<C>, 'contestant' | 'borrows' | 'share'> & { readonly node: number }> {
    const nodes = parent < 0 ? this.roots.toReversed() : this.tree.children[parent]!
    const met = nodes.flatMap((node) => {
      const champion = this.champions[node] ?? null
      return champion === null ? [] : [{ node, ...champion }]
    })
    if (parent >= 0) met.sort((a, b) => this.compare(a, b))
    return met.map(({ node, contestant, borrows, share }) => ({ node, contestant, borrows, share }))
  }

  private championOf(node: number): Champion<C> | null {
    const { tree } = this
    if (tree.nodes[node]!.kind === 'queue') {
      const contestant = this.waiting.get(node)
      return contestant === undefined ? null : this.standFor(node, contestant, contestant.usage)
    }
    let best: Champion<C> | null = null
    for (const child of tree.children[node]!) {
      const champion = this.champions[child] ?? null
      if (champion !== null && (best === null || this.compare(champion, best) < 0)) best = champion
    }
    return best === null ? null : this.standFor(node, best.contestant, best.rest)
  }

  private standFor(node: number, contestant: C, asked: Usage): Champion<C> {
    const { tree } = this
    const rest: (readonly [number, number])[] = []
    let borrows = false
    for (const [flavorResource, amount] of asked) {
      const used = tree.usage(node, flavorResource)
      if (used + amount > tree.subtree(node, flavorResource)) borrows = true
      rest.push([flavorResource, Math.max(0, amount - unusedLocal(tree, node, flavorResource))])
    }
    return { contestant, borrows, share: dominantShare(tree, node, asked), rest }
  }

  private compare(a: Champion<C>, b: Champion<C>): number {
    const { preemptorsFirst } = this.order
    if (preemptorsFirst && a.contestant.isPreemptor !== b.contestant.isPreemptor)
      return a.contestant.isPreemptor ? -1 : 1
    if (a.borrows !== b.borrows) return a.borrows ? 1 : -1
    return compareShares(a.share, b.share) || compareStanding(a.contestant, b.contestant, this.order)
  }
}
