import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { EpochMs } from '../kernel/units.ts'
import { limitsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type { SideStanding } from './cell-event.ts'
import { EvictionAllowance } from './eviction-allowance.ts'
import { Leavers } from './leavers.ts'
import { nodeStanding } from './node-standing.ts'
import { poolFrom } from './protected-pool.ts'
import { protectedUntil, protectionOf, protectionRule } from './protection.ts'
import { Refusals } from './refusals.ts'
import { SideRoom } from './side-room.ts'
import { optionsOf, shrunkBy, type VictimOption } from './victim-option.ts'
import { comeBack, findVictims, leave, type Trial, type VictimSet } from './victim-search.ts'
import type { Workload } from './workload.ts'

/** Who makes room, where, and how both sides stood. */
export interface Reclaim extends VictimSet {
  readonly side: SideStanding
  readonly victimSide: SideStanding
  readonly looked: number
}

/**
 * May a workload evict for its share, and whom: only with a debt, only above entitlement, only outside protected windows.
 * @see the rules of budgets and fair share over time, section 4
 */
export class TakingBack {
  private readonly cell: Cell
  private readonly books: Books
  private readonly policy: AllocationPolicy
  private readonly at: EpochMs
  /** Milli-units by node that come and go by evictions under way. */
  private readonly arriving = new Map<number, number>()
  private readonly leaving = new Map<number, number>()
  private readonly leavers: Leavers
  private readonly gone = new Set<Workload>()
  /** Who shrinks already, with what it keeps: it is no victim meanwhile, but nobody else stops for what it could yet give. */
  private readonly shrinking = new Map<Workload, Placement['parts']>()
  private readonly claims: (boolean | undefined)[] = []
  /** Why nobody makes room, by what was asked for. */
  private readonly nobody = new Map<string, Block | null>()
  private searches = 0
  private readonly allowance: EvictionAllowance

  constructor(cell: Cell, books: Books, policy: AllocationPolicy, at: EpochMs) {
    this.cell = cell
    this.books = books
    this.policy = policy
    this.at = at
    this.leavers = new Leavers(cell)
    this.allowance = new EvictionAllowance(cell, at)
    for (const { decision } of cell.places.values()) {
      const { account } = cell.workloads.get(decision.workload)!
      if (account !== null) this.note(this.arriving, account.node, decision.needMilli)
    }
    // Also those whose place was given up meanwhile: they leave all the same.
    for (const workload of cell.leaving) {
      const { account, run, shape } = workload
      if (account === null) continue
      const keeps = run!.open!.keeps?.map((part) => cell.fleet.partNumbered(part)) ?? []
      if (keeps.length > 0) this.shrinking.set(workload, keeps)
      this.note(this.leaving, account.node, account.rate - (keeps.length === 0 ? 0 : books.rateOf(shape, keeps)))
    }
  }

  /** Levels at which the workload's side may take from its siblings, nearest first. */
  levels({ account }: Workload): ReadonlyArray<number> {
    return this.books.upwards(account!.node).filter((node) => this.mayTake(node, account!.rate))
  }

  hasLevel({ account }: Workload): boolean {
    for (const node of this.books.upwards(account!.node)) if (this.mayTake(node, account!.rate)) return true
    return false
  }

  /**
   * Who makes room for it; or why nobody does; null: its side has no claim.
   * @param spare whole devices that are kept for others and stay free
   */
  find(
    workload: Workload,
    shapes: ReadonlyArray<Shape>,
    place: (shape: Shape) => Placement | null,
    spare: number,
  ): Reclaim | Block | null {
    const levels = this.levels(workload)
    if (levels.length === 0) return null
    const { searchMax } = limitsOf(this.policy)
    if (this.searches >= searchMax)
      return { code: 'SearchBudgetExhausted', rule: 'spec.limits.searchMax', compared: { searches: this.searches } }
    this.searches++
    if (shapes.some((shape) => this.trialOf(workload, shape).allows() && this.leavers.makeRoomFor(shape))) return null
    // Others who ask for the same from the same sides found nobody, and there are only fewer now.
    const pooled = this.policy.protectedPools === undefined ? '' : workload.account!.path
    const asked = `${workload.queue.name} ${pooled} ${spare} ${workload.account!.rate} ${shapes.map(({ index }) => index).join()} ${levels.join()}`
    const before = this.nobody.get(asked)
    if (before !== undefined) return before
    const sideOf = new Map<string, number>()
    const partsAt = new Map<number, number>()
    const refused = new Refusals()
    const victims: Workload[] = []
    const shrinking = new Map<Workload, Placement['parts']>()
    for (const level of levels)
      for (const side of this.sidesBeside(level)) {
        partsAt.set(side, level)
        for (const victim of this.books.runningBelow(side)) {
          const keeps = this.shrinking.get(victim)
          if (keeps !== undefined && this.mayShrinkFurther(victim, workload)) shrinking.set(victim, keeps)
          else if (this.mayLeave(victim, workload, refused)) victims.push(victim)
          else continue
          sideOf.set(victim.id, side)
        }
      }
    const limits = limitsOf(this.policy)
    const room = new SideRoom(this.books, this.leaving, sideOf, {
      teamLeft: (team) => this.allowance.leftOfTeam(team),
      cellLeft: this.allowance.leftOfCell,
      lossMax: limits.lossMaxMilliUnitHours === null ? Infinity : limits.lossMaxMilliUnitHours * 3_600_000,
    })
    const options = optionsOf(this.books, victims, shrinking, this.at)
    for (const shape of shapes) {
      const look = () => findVictims(this.trialOf(workload, shape), shape, options, room, () => place(shape), spare)
      const found = look()
      if (found === null) continue
      // It waits for them.
      if (found.victims.some(({ workload: victim }) => shrinking.has(victim))) return null
      if (this.needOnlyShrink(found, options, look)) return null
      const side = sideOf.get(found.victims[0]!.workload.id)!
      return {
        ...this.shrunkNoMore(found, this.trialOf(workload, shape), () => place(shape)),
        looked: victims.length,
        side: nodeStanding(this.books, partsAt.get(side)!),
        victimSide: nodeStanding(this.books, side),
      }
    }
    const block = refused.block() ?? this.storm(victims.length)
    this.nobody.set(asked, block)
    return block
  }

  /** Somebody would stop who could shrink, and need only do that beside what others are about to leave. */
  private needOnlyShrink(
    { victims }: VictimSet,
    options: ReadonlyArray<VictimOption>,
    look: () => VictimSet | null,
  ): boolean {
    const stops = (set: VictimSet['victims'], victim: Workload) =>
      set.some(({ keeps, workload }) => keeps === null && workload === victim)
    const elastic = options.filter(({ keeps, workload }) => keeps !== null && stops(victims, workload))
    if (elastic.length === 0) return false
    const later = this.leavers.whenGone(look)
    return later !== null && elastic.some(({ workload }) => !stops(later.victims, workload))
  }

  /** Nobody of those who could leave may, because too many did just now. */
  private storm(count: number): Block | null {
    if (count === 0 || this.allowance.leftOfCell > 0) return null
    const retryAtMs = this.allowance.cellRetryAt
    return {
      code: 'PreemptionRateLimited',
      rule: 'spec.limits.evictionsPerMinute',
      compared: { limitedAttempts: count, ...(retryAtMs !== null && { retryAtMs }) },
    }
  }

  /** It is decided: what leaves is nobody's victim any more, and what comes is on its way. */
  commit(workload: Workload, { placement, victims }: VictimSet, rate: number): void {
    this.note(this.arriving, workload.account!.node, rate)
    this.leavers.keep(placement.parts)
    for (const { frees, workload: victim, rate: freed, keeps } of victims) {
      this.gone.add(victim)
      this.leavers.add(victim.shape, frees)
      this.note(this.leaving, victim.account!.node, freed)
      if (keeps === null) this.allowance.evict(victim.team)
      else this.shrinking.set(victim, keeps)
    }
  }

  /** Milli-units that places are kept for at the node and below. */
  readonly arrivingAt = (node: number): number => this.arriving.get(node) ?? 0

  /** A place is no longer kept: what it was for runs, or waits like others. */
  forget(workload: Workload, rate: number): void {
    this.note(this.arriving, workload.account!.node, -rate)
  }

  /** Behind with a debt, and short of at least the workload's rate, or without anything. */
  private mayTake(node: number, rate: number): boolean {
    const { ledger } = this.books
    if (!this.hasClaim(node)) return false
    const held = ledger.held(node) + (this.arriving.get(node) ?? 0)
    return held === 0 || ledger.owedRate(node) - held >= rate
  }

  /** Whoever asks: what a node lacks changes with what starts, so nobody asks before all that may start has. */
  private hasClaim(node: number): boolean {
    const known = this.claims[node]
    if (known !== undefined) return known
    const { ledger, budgets } = this.books
    const has =
      ledger.parent(node) >= 0 &&
      ledger.isBehind(node) &&
      !ledger.servedFully(node) &&
      ledger.debtAtLeast(node, budgets.reclaimAfterMs)
    this.claims[node] = has
    return has
  }

  /** Siblings that hold more than they are entitled to and were served all they are owed. */
  private sidesBeside(node: number): ReadonlyArray<number> {
    const { ledger } = this.books
    return ledger
      .children(ledger.parent(node))
      .filter(
        (side) =>
          side !== node &&
          ledger.held(side) - (this.leaving.get(side) ?? 0) > ledger.entitled(side) &&
          ledger.servedFully(side),
      )
  }

  private mayLeave(victim: Workload, forWhom: Workload, refused: Refusals): boolean {
    if (this.gone.has(victim)) return false
    const run = victim.run!
    const protection = protectionOf(this.cell, victim, run, this.at)
    if (protection === 'protected-window' || protection === 'starting')
      refused.until(protectedUntil(this.policy, victim, run), protectionRule(this.policy, victim, run))
    if (protection === 'undrilled') refused.undrilled()
    if (protection !== null) return false
    if (poolFrom(this.cell, this.policy, victim, forWhom) >= 0) return false
    if (this.allowance.leftOfTeam(victim.team) > 0) return true
    refused.limited('spec.limits.preemptionsPerTeamHour', this.allowance.teamRetryAt(victim.team))
    // Whoever only shrinks is not evicted.
    return victim.terms.elasticity !== null
  }

  /** It could be asked, once it has done what it is asked for now. */
  private mayShrinkFurther(victim: Workload, forWhom: Workload): boolean {
    const protection = protectionOf(this.cell, victim, { ...victim.run!, open: null }, this.at)
    return protection === null && poolFrom(this.cell, this.policy, victim, forWhom) < 0
  }

  /** Quota that victims give back is there for whom they make room. */
  private trialOf({ queue }: Workload, shape: Shape): Trial {
    const { fleet } = this.cell
    const { quota } = this.books
    return {
      fleet,
      allows: () => !quota.limits(queue.name) || quota.verdicts(queue.name, shape).some(({ fits }) => fits),
      count: ({ frees, workload: victim }, gone) => {
        quota.count(victim, fleet, frees, gone ? -1 : 1)
      },
    }
  }

  /** Whoever shrinks gives back no more than is needed. */
  private shrunkNoMore({ victims, placement }: VictimSet, trial: Trial, place: () => Placement | null): VictimSet {
    const kept = [...victims]
    let found = placement
    victims.forEach((victim, i) => {
      if (victim.keeps === null) return
      const { elasticity } = victim.workload.terms
      const each = victim.workload.shape.request.devices / elasticity!.maxReplicas
      const most = victim.frees.reduce((sum, { devices }) => sum + devices.length, 0)
      for (let count = each; count < most; count += each) {
        const less = shrunkBy(this.books, victim.workload, count)
        const set = kept.with(i, less)
        leave(trial, set)
        const fits = trial.allows() ? place() : null
        comeBack(trial, set)
        if (fits === null) continue
        kept[i] = less
        found = fits
        return
      }
    })
    return { victims: kept, placement: found }
  }

  private note(map: Map<number, number>, node: number, rate: number): void {
    for (const above of this.books.upwards(node)) map.set(above, (map.get(above) ?? 0) + rate)
  }
}
