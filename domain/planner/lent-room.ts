import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import { EvictionRoom, type RoomLimits } from './eviction-room.ts'
import type { QuotaBook } from './quota-book.ts'
import type { VictimOption } from './victim-option.ts'
import type { Workload } from './workload.ts'

/** Parts of a lease that are on their way back. */
export interface Going {
  readonly workload: Workload
  readonly parts: Placement['parts']
}

/**
 * A queue gives lent quota back only while it uses more than its own, and so does every cohort between it and what it
 * shares with the owner: what is its own is not taken, give or take one victim.
 */
export class LentRoom extends EvictionRoom {
  private readonly quota: QuotaBook
  private readonly tree: QuotaTree
  private readonly fleet: Fleet
  private readonly owner: number
  private readonly wanted: ReadonlySet<number>
  /** By node and flavor-resource: beyond its own before anybody is taken, and what is taken of it. */
  private readonly borrowed = new Map<string, number>()
  private readonly taken = new Map<string, number>()
  private readonly going: ReadonlyArray<Going>

  /** @param going leaves already, and is used until it has */
  constructor(
    quota: QuotaBook,
    fleet: Fleet,
    owner: string,
    wanted: ReadonlyArray<number>,
    going: ReadonlyArray<Going>,
    limits: RoomLimits,
  ) {
    super(limits)
    this.quota = quota
    this.tree = quota.tree!
    this.fleet = fleet
    this.owner = this.tree.node('queue', owner)
    this.wanted = new Set(wanted)
    this.going = going
    this.tree.nodes.forEach((_, node) => {
      for (const one of wanted)
        this.borrowed.set(`${node} ${one}`, this.tree.usage(node, one) - this.tree.subtree(node, one))
    })
    this.reset()
  }

  override reset(): void {
    super.reset()
    this.taken.clear()
    for (const { parts, workload } of this.going) this.note(workload, this.freedBy(workload, parts))
  }

  /** Whether its queue has borrowed of what is wanted. */
  isBorrower({ queue: { name } }: Workload): boolean {
    return [...this.wanted].some((one) => this.borrows(name, one))
  }

  override allows(option: VictimOption, before?: VictimOption): boolean {
    if (!super.allows(option)) return false
    const given = before === undefined ? null : this.freedBy(before.workload, before.frees)
    const { frees, workload } = option
    return [...this.freedBy(workload, frees).keys()].some((one) =>
      this.borrows(workload.queue.name, one, given?.get(one)),
    )
  }

  override take(option: VictimOption, before?: VictimOption): void {
    super.take(option)
    if (before !== undefined) this.note(before.workload, this.freedBy(before.workload, before.frees), -1)
    this.note(option.workload, this.freedBy(option.workload, option.frees))
  }

  private note({ queue: { name } }: Workload, freed: ReadonlyMap<number, number>, sign = 1): void {
    for (const node of this.below(name))
      for (const [one, amount] of freed) {
        const key = `${node} ${one}`
        this.taken.set(key, (this.taken.get(key) ?? 0) + sign * amount)
      }
  }

  private borrows(queue: string, wanted: number, givenBefore = 0): boolean {
    const nodes = this.below(queue)
    const left = (node: number) => {
      const key = `${node} ${wanted}`
      return this.borrowed.get(key)! - (this.taken.get(key) ?? 0) + givenBefore
    }
    return nodes.length > 0 && nodes.every((node) => left(node) > 0)
  }

  /** Of what is wanted, how much comes back. */
  private freedBy(workload: Workload, parts: Placement['parts']): ReadonlyMap<number, number> {
    const freed = new Map<number, number>()
    for (const usage of this.quota.usages(workload, this.fleet, parts))
      for (const [one, amount] of usage) if (this.wanted.has(one)) freed.set(one, (freed.get(one) ?? 0) + amount)
    return freed
  }

  /** The queue, and the cohorts above it up to what it shares with the owner; none: it can borrow nothing of that one. */
  private below(queue: string): ReadonlyArray<number> {
    const { owner, tree } = this
    if (!this.quota.limits(queue)) return []
    const own = tree.node('queue', queue)
    const shared = tree.commonAncestor(own, owner)
    if (own === owner || shared < 0) return []
    const nodes: number[] = []
    for (let node = own; node !== shared; node = tree.parent[node]!) nodes.push(node)
    return nodes
  }
}
