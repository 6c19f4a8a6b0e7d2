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

  constructor(tree: QuotaTree) {
    this.tree = tree
    this.byQueue = tree.nodes.map(() => new Set<Holder>())
  }

  add(holder: Holder): void {
    this.byQueue[holder.queue]!.add(holder)
    this.tree.add(holder.queue, holder.usage)
  }

  remove(holder: Holder): void {
    const had = this.byQueue[holder.queue]!.delete(holder)
    assert(had, 'what gives quota back held it')
    this.tree.remove(holder.queue, holder.usage)
  }

  of(queue: number): Iterable<Holder> {
    return this.byQueue[queue]!
  }
}
