import type { EpochMs } from '../kernel/units.ts'
import type { Candidate } from './candidate.ts'
import { DecayedUsage, type DecayedUsageSnapshot } from './decayed-usage.ts'
import { FairTree, type FairRanks, type FairTreeNode } from './fair-tree.ts'
import type { PeriodDecay } from './period-decay.ts'
import { WaitingHeads } from './waiting-heads.ts'

interface Ranked {
  readonly period: number
  readonly ranks: FairRanks
  /** Of each node. */
  readonly usage: ReadonlyMap<string, bigint>
}

/**
 * Who is next by decayed usage: the fair tree over what its users have used. Ranks change when a period closes or the
 * tree does, and are worked out when somebody asks; an event in between costs what `DecayedUsage` says. Changes in place.
 */
export class FairTreeLedger {
  private readonly tree: FairTree
  private readonly usage: DecayedUsage
  /** As of the period that they were worked out in; null: the tree has changed since. */
  private ranked: Ranked | null = null
  private readonly heads = new WaitingHeads((a, b) => this.rankOf(b) - this.rankOf(a))

  /**
   * @param nodes parents before their children
   * @param from  what was in a snapshot; leaves that the tree no longer has are forgotten
   */
  constructor(nodes: Iterable<FairTreeNode>, decay: PeriodDecay, from?: DecayedUsageSnapshot) {
    const tree = new FairTree(nodes)
    this.tree = tree
    this.usage = new DecayedUsage(
      decay,
      from === undefined ? undefined : { ...from, leaves: from.leaves.filter(({ id }) => tree.has(id)) },
    )
  }

  get users(): number {
    return this.tree.users
  }

  has(id: string): boolean {
    return this.tree.has(id)
  }

  add(node: FairTreeNode): void {
    this.tree.add(node)
    this.ranked = null
  }

  /** Only what has nothing below it, and of which nothing runs; what it had used is forgotten. */
  remove(id: string): void {
    this.setHead(id, null)
    this.tree.remove(id)
    this.usage.remove(id)
    this.ranked = null
  }

  advance(at: EpochMs): void {
    this.usage.advance(at)
  }

  /** @param rate what it is billed, a whole number: see `billedMilli` */
  started(user: string, rate: number, at: EpochMs): void {
    this.usage.started(user, rate, at)
  }

  ended(user: string, rate: number, startedAt: EpochMs, at: EpochMs): void {
    this.usage.ended(user, rate, startedAt, at)
  }

  /** Takes over usage that was accounted elsewhere, as of now, in seconds of what `rate` is in. */
  addUsage(user: string, unitSeconds: bigint): void {
    this.usage.add(user, unitSeconds)
    this.ranked = null
  }

  /** From now on usage decays otherwise; see `DecayedUsage`. */
  changeDecay(decay: PeriodDecay): void {
    this.usage.changeDecay(decay)
  }

  /** As of the last period that was closed. */
  get ranks(): FairRanks {
    return this.current().ranks
  }

  /** Rank over number of users: above 0, 1 for the first. For display. */
  factorOf(user: string): number {
    return (this.ranks.rank.get(user) ?? 0) / this.tree.users
  }

  /** What the user would start first, by `bySeniority`; null: nothing of it waits. */
  setHead(user: string, head: Candidate | null): void {
    this.current()
    this.heads.set(user, head)
  }

  /** The user whose head goes first: by rank, and of those that tie the senior head. Null: nothing waits. */
  get next(): string | null {
    this.current()
    return this.heads.next
  }

  /** Those of whom something waits, from the first. */
  get inOrder(): ReadonlyArray<string> {
    this.current()
    return this.heads.sorted
  }

  /** Of a user or an account; an amount of unit-seconds, as `shownAmount` shows it. */
  usageOf(id: string): bigint {
    return this.current().usage.get(id) ?? 0n
  }

  snapshot(): DecayedUsageSnapshot {
    return this.usage.snapshot()
  }

  private current(): Ranked {
    const { period } = this.usage
    if (this.ranked?.period === period) return this.ranked
    const usage = this.tree.sums((user) => this.usage.of(user))
    this.ranked = { period, usage, ranks: this.tree.rank(usage) }
    this.heads.reordered()
    return this.ranked
  }

  /** As of when the heads were put in order. */
  private rankOf(user: string): number {
    return this.ranked?.ranks.rank.get(user) ?? 0
  }
}
