import type { Holder } from '../kueue/holdings.ts'
import type { EpochMs } from '../kernel/units.ts'
import { kueueOf, limitsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { LimitsPolicy } from '../policy/contract-policy.ts'
import type { Block } from './block.ts'
import type { Cell } from './cell.ts'
import { EvictionAllowance } from './eviction-allowance.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { LeafOrder } from './leaf-order.ts'
import { losesTooMuch } from './lost-work.ts'
import { poolFrom } from './protected-pool.ts'
import { exceptionFor, protectedUntil, protectionOf, protectionRule, type Protection } from './protection.ts'
import { Refusals } from './refusals.ts'
import type { Workload } from './workload.ts'

type Refusal = Protection | 'limited' | 'pooled' | 'went-first'

/** Those whom one head would have evicted, but for what they are promised. */
interface Refused {
  readonly whom: Map<Workload, Refusal>
  /** From when on one of them may be evicted; Infinity: nothing but an event makes a difference. */
  until: number
}

/**
 * What a running attempt is promised, where quota and priority would give it away: protected windows, drills, promotion
 * and limits. A policy whose loops are `compatible` waives all of it, as Kueue knows nothing of the kind.
 */
export class KueueProtection {
  private readonly cell: Cell
  private readonly books: KueueBooks
  private readonly policy: AllocationPolicy
  private readonly at: EpochMs
  private readonly limits: LimitsPolicy
  private readonly order: LeafOrder
  private readonly waived: boolean
  private readonly looked = new Map<string, Set<Holder>>()
  private readonly byHead = new Map<string, Refused>()
  private readonly until = new Map<number, number>()
  private readonly allowance: EvictionAllowance

  constructor(cell: Cell, books: KueueBooks, policy: AllocationPolicy, at: EpochMs, order: LeafOrder) {
    this.cell = cell
    this.books = books
    this.policy = policy
    this.at = at
    this.order = order
    this.limits = limitsOf(policy)
    this.allowance = new EvictionAllowance(cell, at)
    this.waived = kueueOf(policy).loops === 'compatible'
  }

  readonly mayEvict = (holder: Holder, { id }: { readonly id: string }): boolean => {
    this.looked.get(id)?.add(holder)
    const workload = this.books.workloadOf(holder)
    // Who is leaving anyway is not evicted again.
    if (workload === undefined || holder.evicting) return true
    const refusal = this.refusalOf(workload, this.cell.workloads.get(id)!)
    if (refusal !== null) this.refuse(id, holder, workload, refusal)
    return refusal === null
  }

  /** Why so many may not be evicted by one decision; null: they may. */
  tooMany(victims: ReadonlyArray<Workload>, lossMilliUnitMs: number): Block | null {
    if (this.waived) return null
    const dear = losesTooMuch(this.limits, lossMilliUnitMs)
    if (dear !== null) return dear
    const left = this.allowance.leftOfCell
    if (victims.length > left)
      return limited('spec.limits.evictionsPerMinute', { evictions: victims.length, evictionsLeft: Math.max(0, left) })
    const ofTeam = new Map<string, number>()
    for (const { team } of victims) ofTeam.set(team, (ofTeam.get(team) ?? 0) + 1)
    for (const [team, count] of ofTeam) {
      const teamLeft = this.allowance.leftOfTeam(team)
      if (count > teamLeft)
        return limited('spec.limits.preemptionsPerTeamHour', {
          evictions: count,
          evictionsLeft: Math.max(0, teamLeft),
        })
    }
    return null
  }

  commit(victims: ReadonlyArray<Workload>): void {
    for (const { team } of victims) this.allowance.evict(team)
  }

  /** A head is looked at anew: what was found before says nothing of how things are now. */
  begin(id: string): void {
    this.looked.set(id, new Set())
    this.byHead.delete(id)
  }

  /** Running attempts that were looked at for a head. */
  lookedFor(id: string): number {
    return this.looked.get(id)?.size ?? 0
  }

  /** Why those could not leave now who would have had to for this head; null: there were none. */
  blockOf(id: string): Block | null {
    const refusals = new Refusals()
    for (const [workload, refusal] of this.byHead.get(id)?.whom ?? [])
      switch (refusal) {
        case 'protected-window':
        case 'starting':
          refusals.until(
            protectedUntil(this.policy, workload, workload.run!),
            protectionRule(this.policy, workload, workload.run!),
          )
          break
        case 'limited':
          refusals.limited(...this.limitOf(workload))
          break
        case 'undrilled':
          refusals.undrilled()
          break
        case 'excepted':
        case 'intolerant':
        case 'leaving':
        case 'pooled':
        case 'promoted':
        case 'went-first':
          break
      }
    return refusals.block()
  }

  /** By which rule somebody is never to leave for this head; null: nobody is kept like that. */
  lastingRuleOf(id: string): string | null {
    const head = this.cell.workloads.get(id)!
    const rules = Array.from(this.byHead.get(id)?.whom ?? [], ([workload, refusal]) => {
      switch (refusal) {
        case 'excepted': {
          const exception = exceptionFor(this.policy, workload, this.at, 'not-preempted')!
          return `spec.exceptions[${this.policy.exceptions!.indexOf(exception)}]`
        }
        case 'pooled':
          return `spec.protectedPools[${poolFrom(this.cell, this.policy, workload, head)}]`
        case 'promoted':
          return 'spec.limits.promotionAfter'
        case 'went-first':
          return `spec.classes[${this.policy.classes!.findIndex(({ name }) => name === workload.class)}].aging`
        // No rule of the policy: it said so itself.
        case 'intolerant':
        case 'leaving':
        case 'limited':
        case 'protected-window':
        case 'starting':
        case 'undrilled':
          return null
      }
    }).filter((rule) => rule !== null)
    return rules.sort()[0] ?? null
  }

  /** From when on somebody of the tree may be evicted who could not be now. */
  untilFor(root: number): number {
    return this.until.get(root) ?? Infinity
  }

  /** What is refused now may be granted at any later instant. */
  lookAgain(root: number): void {
    this.until.set(root, this.at + 1)
  }

  private refusalOf(workload: Workload, head: Workload): Refusal | null {
    const run = workload.run!
    if (run.open !== null) return 'leaving'
    if (this.waived) return null
    const protection = protectionOf(this.cell, workload, run, this.at)
    if (protection !== null) return protection
    if (poolFrom(this.cell, this.policy, workload, head) >= 0) return 'pooled'
    if (this.wentFirst(workload, head)) return 'went-first'
    return this.allowance.leftOfCell > 0 && this.allowance.leftOfTeam(workload.team) > 0 ? null : 'limited'
  }

  /** It has the lower priority, and its age made up for that: whoever it went before does not evict it for priority. */
  private wentFirst(workload: Workload, head: Workload): boolean {
    if (!this.order.ages || workload.queue !== head.queue) return false
    if (this.books.priorityOf(workload) >= this.books.priorityOf(head)) return false
    return this.order.then(workload.run!.startedAt).priority(workload) >= this.order.priority(head)
  }

  private limitOf({ team }: Workload): readonly [rule: string, retryAt: EpochMs | null] {
    const { allowance } = this
    return allowance.leftOfTeam(team) > 0
      ? ['spec.limits.evictionsPerMinute', allowance.cellRetryAt]
      : ['spec.limits.preemptionsPerTeamHour', allowance.teamRetryAt(team)]
  }

  private refuse(id: string, holder: Holder, workload: Workload, refusal: Refusal): void {
    let refused = this.byHead.get(id)
    if (refused === undefined) this.byHead.set(id, (refused = { whom: new Map<Workload, Refusal>(), until: Infinity }))
    refused.whom.set(workload, refusal)
    const until = this.endOf(workload, refusal)
    refused.until = Math.min(refused.until, until)
    const root = this.books.holdings.rootOf(holder.queue)
    this.until.set(root, Math.min(this.untilFor(root), until))
  }

  private endOf(workload: Workload, refusal: Refusal): number {
    switch (refusal) {
      case 'protected-window':
        return Math.max(this.at + 1, protectedUntil(this.policy, workload, workload.run!))
      case 'limited':
      case 'excepted':
      case 'went-first':
        return this.at + 1
      case 'starting':
      case 'intolerant':
      case 'leaving':
      case 'undrilled':
      case 'pooled':
      case 'promoted':
        return Infinity
    }
  }
}

const limited = (rule: string, compared: NonNullable<Block['compared']>): Block => ({
  code: 'PreemptionRateLimited',
  rule,
  compared,
})
