import { assert } from '../kernel/decider.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import type { Holder } from './holdings.ts'
import type { PreemptionRequest, Preemptor, Victim, VictimReason } from './preemption-request.ts'

/**
 * What would be if some were out: their quota leaves the tree, and comes back with `undo`, in the reverse order. The
 * holdings still list them.
 */
export class Trial {
  readonly tree: QuotaTree
  readonly preemptor: Preemptor
  private readonly alsoFits: PreemptionRequest['fits']
  private victims: Victim[] = []

  constructor({ holdings, preemptor, fits }: PreemptionRequest) {
    this.tree = holdings.tree
    this.preemptor = preemptor
    this.alsoFits = fits
  }

  /** Those who are out. */
  get out(): ReadonlyArray<Victim> {
    return this.victims
  }

  take(holder: Holder, reason: VictimReason): void {
    this.tree.remove(holder.queue, holder.usage)
    this.victims.push({ holder, reason })
  }

  /** False: not even with all of them out would it fit, since each frees at most what it uses. */
  couldFit(candidates: Iterable<Holder>): boolean {
    const { tree, preemptor } = this
    const free = new Map(preemptor.usage.map(([one]) => [one, tree.available(preemptor.queue, one)]))
    for (const { usage } of candidates)
      for (const [one, amount] of usage) {
        const known = free.get(one)
        if (known !== undefined) free.set(one, known + amount)
      }
    return preemptor.usage.every(([one, amount]) => amount <= free.get(one)!)
  }

  undo(): void {
    for (let victim = this.victims.pop(); victim !== undefined; victim = this.victims.pop())
      this.tree.add(victim.holder.queue, victim.holder.usage)
  }

  /** Whether all of the request fits now; without borrowing: and leaves its queue within nominal quota. */
  fits(borrowing: boolean): boolean {
    const { tree, preemptor } = this
    for (const [flavorResource, amount] of preemptor.usage) {
      if (
        !borrowing &&
        tree.usage(preemptor.queue, flavorResource) + amount > tree.nominal(preemptor.queue, flavorResource)
      )
        return false
      if (amount > tree.available(preemptor.queue, flavorResource)) return false
    }
    return this.alsoFits === undefined || this.alsoFits(this.victims.map(({ holder }) => holder))
  }

  /**
   * Lets those come back who are not needed, the last taken first; the very last is, or they would not have been too
   * few without it. The last moves into the place of who comes back: that is the order that Kueue returns.
   */
  returnUnneeded(borrowing: boolean): void {
    assert(this.victims.length > 0, 'somebody is out')
    for (let i = this.victims.length - 2; i >= 0; i--) {
      const victim = this.victims[i]!
      const last = this.victims.pop()!
      this.victims[i] = last
      this.tree.add(victim.holder.queue, victim.holder.usage)
      if (this.fits(borrowing)) continue
      this.tree.remove(victim.holder.queue, victim.holder.usage)
      this.victims[i] = victim
      this.victims.push(last)
    }
  }
}

/** Whether a node uses more than its subtree quota of any of them. */
export const borrowsAny = (tree: QuotaTree, node: number, wanted: ReadonlyArray<number>): boolean => {
  for (const flavorResource of wanted) if (tree.borrows(node, flavorResource)) return true
  return false
}

export const usesAny = ({ usage }: Holder, wanted: ReadonlyArray<number>): boolean => {
  for (const [flavorResource, amount] of usage) if (amount > 0 && wanted.includes(flavorResource)) return true
  return false
}
