import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import type { Head } from './head.ts'
import type { Holder } from './holdings.ts'
import type { CycleContext, Nomination } from './nomination.ts'

/** `afterEvictions`: only once those whom earlier heads evict are gone. */
export type Fit = 'now' | 'afterEvictions' | 'noQuota' | 'noPlace'

/** What heads of one cycle hold, and whom they evict: counted in the tree until `undo`. */
export class CycleLedger {
  private readonly context: CycleContext
  private readonly tree: QuotaTree
  private readonly held: { readonly head: Head; readonly usage: Usage; readonly placed: boolean }[] = []
  private readonly taken = new Set<Holder>()
  private readonly takenByRoot = new Map<number, Holder[]>()

  constructor(context: CycleContext) {
    this.context = context
    this.tree = context.holdings.tree
  }

  /** Whether somebody of them is evicted for an earlier head. */
  overlaps({ victims }: Nomination): boolean {
    return victims.some(({ holder }) => this.taken.has(holder))
  }

  /** Whether it fits once those are gone whom it evicts and whom earlier heads evict. */
  fit({ head, assignment, victims, placement }: Nomination): Fit {
    const { placer } = this.context
    const evicted = victims.map(({ holder }) => holder)
    const now = victims.length === 0 && this.hasQuota(head.queue, assignment.usage)
    if (!now && !this.hasQuotaWithout([...this.takenFrom(head.queue), ...evicted], head.queue, assignment.usage))
      return 'noQuota'
    if (placer !== null && placement !== null) {
      const gone = [...this.taken, ...evicted]
      if (!placer.isFree(head, assignment.podSets, placement, gone)) return 'noPlace'
    }
    return now || victims.length > 0 ? 'now' : 'afterEvictions'
  }

  /** Keeps it from later heads. */
  hold({ head, assignment, placement }: Nomination, usage: Usage): void {
    const { placer } = this.context
    this.tree.add(head.queue, usage)
    if (placer !== null && placement !== null) placer.hold(head, assignment.podSets, placement)
    this.held.push({ head, usage, placed: placement !== null })
  }

  take({ victims }: Nomination): void {
    for (const { holder } of victims) {
      this.taken.add(holder)
      const root = this.context.holdings.rootOf(holder.queue)
      const known = this.takenByRoot.get(root)
      if (known === undefined) this.takenByRoot.set(root, [holder])
      else known.push(holder)
    }
  }

  /** What comes of `look` while those are out of the holdings whom earlier heads of the same tree evict. */
  withoutTaken<A>(queue: number, look: (out: ReadonlyArray<Holder>) => A): A {
    const { holdings } = this.context
    const out = this.takenFrom(queue)
    for (const holder of out) holdings.remove(holder)
    const outcome = look(out)
    for (const holder of out) holdings.add(holder)
    return outcome
  }

  undo(): void {
    for (let one = this.held.pop(); one !== undefined; one = this.held.pop()) {
      if (one.placed) this.context.placer?.release(one.head)
      this.tree.remove(one.head.queue, one.usage)
    }
  }

  private hasQuota(queue: number, usage: Usage): boolean {
    for (const [flavorResource, amount] of usage)
      if (amount > Math.max(0, this.tree.available(queue, flavorResource))) return false
    return true
  }

  private hasQuotaWithout(out: ReadonlyArray<Holder>, queue: number, usage: Usage): boolean {
    for (const holder of out) this.tree.remove(holder.queue, holder.usage)
    const has = this.hasQuota(queue, usage)
    for (const holder of out) this.tree.add(holder.queue, holder.usage)
    return has
  }

  private takenFrom(queue: number): ReadonlyArray<Holder> {
    return this.takenByRoot.get(this.context.holdings.rootOf(queue)) ?? []
  }
}
