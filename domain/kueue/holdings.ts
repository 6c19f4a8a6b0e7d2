import { assert } from '../kernel/decider.ts'
import type { QuotaTree, Usage } from '../quota/quota-tree.ts'

/** What holds quota of a queue, as those see it who want it back. */
export interface Holder {
  readonly id: string
  /** Number of its queue in the tree. */
  readonly queue: number
  /** With whatever boosts it. */
  readonly priority: number
  /** Both in ms; -Infinity: before any stated time. */
  readonly createdAt: number
  readonly admittedAt: number
  readonly usage: Usage
  /** It has been asked to leave already. */
  readonly evicting: boolean
  /** Where order within a queue goes by usage over time. */
  readonly subQueue?: { readonly name: string; readonly usage: number }
}

/** Who holds what: the tree's usage and its holders change together. */
export class Holdings {
  readonly tree: QuotaTree
  private readonly byQueue: ReadonlyArray<Set<Holder>>
  private readonly shielded = new Set<Holder>()
  /** Per node: the root of its tree. */
  private readonly roots: Int32Array
  /** Per root. */
  private readonly versions: Float64Array

  constructor(tree: QuotaTree) {
    this.tree = tree
    this.byQueue = tree.nodes.map(() => new Set<Holder>())
    this.roots = Int32Array.from(tree.parent, (_, node) => rootOf(tree, node))
    this.versions = new Float64Array(tree.nodes.length)
  }

  rootOf(queue: number): number {
    return this.roots[queue]!
  }

  /** Another one whenever somebody came or went in the queue's tree. */
  version(queue: number): number {
    return this.versions[this.rootOf(queue)]!
  }

  add(holder: Holder): void {
    this.byQueue[holder.queue]!.add(holder)
    this.tree.add(holder.queue, holder.usage)
    this.versions[this.rootOf(holder.queue)]!++
  }

  remove(holder: Holder): void {
    const had = this.byQueue[holder.queue]!.delete(holder) || this.shielded.delete(holder)
    assert(had, 'what gives quota back held it')
    this.tree.remove(holder.queue, holder.usage)
    this.versions[this.rootOf(holder.queue)]!++
  }

  /** Those whom somebody may evict. */
  of(queue: number): Iterable<Holder> {
    return this.byQueue[queue]!
  }

  /**
   * From now on it holds what it holds, and nobody can evict it. Who starts at an instant has to be shielded while
   * cycles are repeated at it: else three that may each evict the next go round for ever.
   */
  shield(holder: Holder): void {
    const had = this.byQueue[holder.queue]!.delete(holder)
    assert(had, 'who is shielded could be evicted')
    this.shielded.add(holder)
    this.versions[this.rootOf(holder.queue)]!++
  }

  unshield(holder: Holder): void {
    const had = this.shielded.delete(holder)
    assert(had, 'who can be evicted again was shielded')
    this.byQueue[holder.queue]!.add(holder)
    this.versions[this.rootOf(holder.queue)]!++
  }
}

const rootOf = ({ parent }: QuotaTree, node: number): number => {
  let root = node
  while (parent[root]! >= 0) root = parent[root]!
  return root
}
