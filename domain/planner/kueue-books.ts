import type { Placement } from '../fleet/fleet.ts'
import { Holdings, type Holder } from '../kueue/holdings.ts'
import { NominationMemo } from '../kueue/nomination-memo.ts'
import { queueRulesOf, type QueueRules } from '../kueue/queue-rules.ts'
import { assert } from '../kernel/decider.ts'
import { wholeGpu } from '../kernel/units.ts'
import { QuotaTree, type Usage } from '../quota/quota-tree.ts'
import { classOf, kueueOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { quotaNodesOf } from '../policy/quota-nodes.ts'
import { UnitTable } from '../policy/unit-table.ts'
import type { Cell } from './cell.ts'
import { KueueAsks } from './kueue-asks.ts'
import { KueueRest } from './kueue-rest.ts'
import { KueueTallies } from './kueue-tallies.ts'
import type { KueueUsage } from './kueue-usage.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/**
 * Quota of a cell that shares it as Kueue does: what runs, and what a place is kept for, holds quota of its queue. All of
 * it follows from the cell, so that a snapshot need not have it.
 */
export class KueueBooks {
  readonly holdings: Holdings
  readonly units: UnitTable
  readonly asks: KueueAsks
  readonly rest: KueueRest
  /** What caps, headroom and reserves are held against. */
  readonly held: KueueTallies
  /** Null: who goes first in a queue does not depend on what was used. */
  readonly usage: KueueUsage | null
  memo = new NominationMemo()
  /** By number of the node in the quota tree. */
  private readonly rules = new Map<number, QueueRules>()
  private readonly nodeByName = new Map<string, number>()
  private readonly priorities = new Map<string, number>()
  private readonly policy: AllocationPolicy
  private readonly holders = new Map<Workload, Holder>()
  private readonly workloads = new Map<Holder, Workload>()
  /** Started at the newest instant of all, and shielded while that is now. */
  private newest = new Set<Workload>()
  private newestAt = -Infinity
  private shielded = true

  /** Of a cell in which nothing holds quota yet. */
  constructor(cell: Cell, policy: AllocationPolicy, usage: KueueUsage | null) {
    assert((usage !== null) === (kueueOf(policy).usageOrdering !== undefined), 'usage is kept where it orders')
    this.policy = policy
    this.usage = usage
    this.units = new UnitTable(policy)
    const tree = new QuotaTree(quotaNodesOf(policy))
    this.holdings = new Holdings(tree)
    for (const queue of policy.queues) {
      const node = tree.node('queue', queue.name)
      this.nodeByName.set(queue.name, node)
      this.rules.set(node, queueRulesOf(tree, queue))
    }
    this.asks = new KueueAsks(cell, this)
    this.held = new KueueTallies(cell, policy, this.units)
    this.rest = new KueueRest(this.holdings, cell.queues, (queue) => this.nodeOf(queue))
  }

  /** Number of the queue in the quota tree; -1: the policy does not have it. */
  nodeOf({ name }: WaitingQueue): number {
    return this.nodeByName.get(name) ?? -1
  }

  readonly rulesOf = (node: number): QueueRules => this.rules.get(node)!

  priorityOf({ class: kind }: Workload): number {
    const known = this.priorities.get(kind)
    if (known !== undefined) return known
    const { priority } = classOf(this.policy, kind)
    this.priorities.set(kind, priority)
    return priority
  }

  /** Undefined: it is nobody of these books, but somebody who might be. */
  workloadOf(holder: Holder): Workload | undefined {
    return this.workloads.get(holder)
  }

  usageOf(workload: Workload, parts: Placement['parts']): Usage {
    return this.asks.usageOf(workload, parts)
  }

  /** What workloads have in common that stand in one line: whatever makes a difference to whether they may start. */
  lineKeyOf(workload: Workload): string {
    const team = this.usage === null ? '' : ` ${JSON.stringify(workload.team)}`
    return `${this.asks.likenessOf(workload)}${this.held.likenessOf(workload)}${team}`
  }

  /** It runs from then on. */
  start(workload: Workload, parts: Placement['parts'], startedAt: number): void {
    this.tally(workload, parts)
    const holder = this.add(workload, parts, startedAt, isLeaving(workload))
    if (holder === null || holder.evicting || startedAt < this.newestAt) return
    if (startedAt > this.newestAt) {
      this.shieldNewest(false)
      this.newest = new Set()
      this.newestAt = startedAt
      this.shielded = true
    }
    this.newest.add(workload)
    if (this.shielded) this.holdings.shield(holder)
  }

  /** A place is kept for it: nobody can evict it, or have what it is about to hold. */
  keep(workload: Workload, parts: Placement['parts']): void {
    this.tally(workload, parts)
    const holder = this.add(workload, parts, Infinity, false)
    if (holder !== null) this.holdings.shield(holder)
  }

  /** It holds nothing any more; whoever holds nothing may be told so, too. */
  stop(workload: Workload): void {
    this.tally(workload, null)
    const holder = this.holders.get(workload)
    if (holder === undefined) return
    this.holdings.remove(holder)
    this.holders.delete(workload)
    this.workloads.delete(holder)
    this.newest.delete(workload)
  }

  resize(workload: Workload, parts: Placement['parts']): void {
    const { startedAt } = workload.run!
    this.stop(workload)
    this.start(workload, parts, startedAt)
  }

  /** It has been asked to do something: to leave, perhaps. */
  asked(workload: Workload): void {
    if (isLeaving(workload)) this.setLeaving(workload, true)
    else this.rest.touch(workload.queue)
  }

  /** It has been asked to leave, or that was taken back. */
  setLeaving(workload: Workload, leaving: boolean): void {
    const holder = this.holders.get(workload)
    if (holder === undefined || holder.evicting === leaving) return
    this.holdings.remove(holder)
    this.workloads.delete(holder)
    this.put(workload, { ...holder, evicting: leaving })
  }

  /** Whether all that it holds is within what its queue may use. */
  isWithinQuota(workload: Workload): boolean {
    const holder = this.holders.get(workload)
    const { tree } = this.holdings
    return holder === undefined || holder.usage.every(([one]) => tree.available(holder.queue, one) >= 0)
  }

  /** Whoever started at just that instant cannot be evicted, and nobody else is kept from it. */
  bringTo(at: number): void {
    this.shieldNewest(at === this.newestAt)
  }

  /** Who started last, to be given back to `reset` once all that was tried has been undone. */
  mark(): NewestMark {
    return { newest: this.newest, newestAt: this.newestAt, shielded: this.shielded }
  }

  reset({ newest, newestAt, shielded }: NewestMark): void {
    this.newest = newest
    this.newestAt = newestAt
    this.shielded = shielded
  }

  /** Milli-units of the devices. */
  rateOf(parts: Placement['parts']): number {
    return parts.reduce((sum, { node, devices, milli }) => {
      const { model } = this.asks.nodeOf(node)
      return sum + Math.floor((devices.length * milli * this.units.milliUnits(model)) / wholeGpu)
    }, 0)
  }

  /** Where the fleet has other nodes than before, other accelerators may do. */
  nodeCame(node: number): void {
    this.held.refresh(node)
    this.memo = new NominationMemo()
    this.rest.fleetChanged()
    this.rest.touchAll()
  }

  /** @param parts null: none any more */
  private tally(workload: Workload, parts: Placement['parts'] | null): void {
    if (parts === null) this.held.remove(workload)
    else this.held.add(workload, parts)
    // Who waits for others to hold less may be in any tree.
    if (this.held.bind) this.rest.fleetChanged()
  }

  private shieldNewest(shielded: boolean): void {
    if (shielded === this.shielded) return
    this.shielded = shielded
    for (const workload of this.newest) {
      const holder = this.holders.get(workload)!
      if (holder.evicting) continue
      if (shielded) this.holdings.shield(holder)
      else this.holdings.unshield(holder)
    }
  }

  private add(workload: Workload, parts: Placement['parts'], admittedAt: number, evicting: boolean): Holder | null {
    const queue = this.nodeOf(workload.queue)
    if (queue < 0) return null
    return this.put(workload, {
      id: workload.id,
      queue,
      priority: this.priorityOf(workload),
      createdAt: workload.submittedAt,
      admittedAt,
      usage: this.usageOf(workload, parts),
      evicting,
      ...(this.usage !== null && { subQueue: this.usage.subQueueOf(workload) }),
    })
  }

  private put(workload: Workload, holder: Holder): Holder {
    this.holdings.add(holder)
    this.holders.set(workload, holder)
    this.workloads.set(holder, workload)
    return holder
  }
}

interface NewestMark {
  readonly newest: Set<Workload>
  readonly newestAt: number
  readonly shielded: boolean
}

const isLeaving = ({ run }: Workload): boolean => run?.open?.verb === 'evict' || run?.open?.verb === 'cancel'
