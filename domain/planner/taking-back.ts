import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { EpochMs } from '../kernel/units.ts'
import { limitsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { editionFirst } from './edition.ts'
import { EvictionAllowance } from './eviction-allowance.ts'
import type { Room, RoomLimits } from './eviction-room.ts'
import { Leavers, partsBeyond } from './leavers.ts'
import { isNotLent, lentRightOf, type LentRight } from './lent-quota.ts'
import { LentRoom, type Going } from './lent-room.ts'
import { losesTooMuch, lossMaxOf } from './lost-work.ts'
import { nodeStanding } from './node-standing.ts'
import type { Place } from './place.ts'
import type { Taking } from './preemption.ts'
import { poolFrom } from './protected-pool.ts'
import {
  exceptedUntil,
  exceptionFor,
  exceptionRule,
  protectedUntil,
  protectionOf,
  protectionRule,
} from './protection.ts'
import { Refusals } from './refusals.ts'
import { SideRoom } from './side-room.ts'
import { shrunkNoMore } from './shrunk-no-more.ts'
import { optionsOf, type VictimOption } from './victim-option.ts'
import { findVictims, type Trial, type VictimSet } from './victim-search.ts'
import type { Workload } from './workload.ts'

/** What a workload asks for, on each of the shapes that quota could ever let it have. */
interface Asked {
  readonly workload: Workload
  readonly shapes: ReadonlyArray<Shape>
  readonly place: (shape: Shape) => Placement | null
  /** Whole devices that are kept for others and stay free. */
  readonly spare: number
}

/** Who could make room, as far as anybody may be asked to. */
interface Candidates {
  readonly victims: Workload[]
  /** Who shrinks already, with what it keeps. */
  readonly shrinking: Map<Workload, Placement['parts']>
  readonly refused: Refusals
}

/**
 * May a workload evict for its share, and whom: only with a debt, only above entitlement, only outside protected windows;
 * or for its queue's own quota that others have borrowed, once the deadline for that is over.
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
  /** What comes free by evictions under way, and whose it was. */
  private readonly going: Going[] = []
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
      this.going.push({ parts: partsBeyond(run!.parts, keeps), workload })
      this.note(this.leaving, account.node, account.rate - (keeps.length === 0 ? 0 : books.rateOf(shape, keeps)))
    }
  }

  /** Whether it may ask at all. */
  mayAsk(workload: Workload): boolean {
    return this.hasLevel(workload) || lentRightOf(this.books, this.policy, workload, this.at) !== null
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
  ): Taking | Block | null {
    const levels = this.levels(workload)
    const lent = lentRightOf(this.books, this.policy, workload, this.at)
    if (levels.length === 0 && lent === null) return null
    const { searchMax } = limitsOf(this.policy)
    if (this.searches >= searchMax)
      return { code: 'SearchBudgetExhausted', rule: 'spec.limits.searchMax', compared: { searches: this.searches } }
    this.searches++
    if (shapes.some((shape) => this.trialOf(workload, shape).allows() && this.leavers.makeRoomFor(shape))) return null
    const asked = { workload, shapes, place, spare }
    const found = levels.length === 0 ? null : this.ofShare(asked, levels)
    if (found === 'waits') return null
    if (lent === null || (found !== null && !('code' in found))) return found
    const returned = this.ofLentQuota(asked, lent)
    if (returned === 'waits') return null
    return returned === null || 'code' in returned ? (found ?? returned) : returned
  }

  /** Of sides that hold more than they are entitled to. */
  private ofShare(asked: Asked, levels: ReadonlyArray<number>): Taking | Block | 'waits' | null {
    const { shapes, spare, workload } = asked
    // Others who ask for the same from the same sides found nobody, and there are only fewer now.
    const pooled = this.policy.protectedPools === undefined ? '' : workload.account!.path
    const key = `${workload.queue.name} ${pooled} ${spare} ${workload.account!.rate} ${shapes.map(({ index }) => index).join()} ${levels.join()}`
    const before = this.nobody.get(key)
    if (before !== undefined) return before
    const sideOf = new Map<string, number>()
    const partsAt = new Map<number, number>()
    const candidates: Candidates = { victims: [], shrinking: new Map(), refused: new Refusals() }
    for (const level of levels)
      for (const side of this.sidesBeside(level)) {
        partsAt.set(side, level)
        for (const victim of this.books.runningBelow(side))
          if (!this.isNotLent(victim, workload) && this.consider(victim, workload, candidates))
            sideOf.set(victim.id, side)
      }
    const found = this.search(asked, candidates, (limits) => new SideRoom(this.books, this.leaving, sideOf, limits))
    if (found === 'waits') return found
    if (found === null || 'code' in found) {
      this.nobody.set(key, found)
      return found
    }
    const side = sideOf.get(found.victims[0]!.workload.id)!
    return {
      ...found,
      side: nodeStanding(this.books, partsAt.get(side)!),
      victimSide: nodeStanding(this.books, side),
    }
  }

  private isNotLent(victim: Workload, forWhom: Workload): boolean {
    return isNotLent(this.books, this.policy, victim, forWhom, this.leavingOf)
  }

  /** What of a queue's usage is on its way back. */
  private readonly leavingOf = (queue: string): ReadonlyMap<number, number> => {
    const amounts = new Map<number, number>()
    for (const { parts, workload } of this.going)
      if (workload.queue.name === queue)
        for (const usage of this.books.quota.usages(workload, this.cell.fleet, parts))
          for (const [one, amount] of usage) amounts.set(one, (amounts.get(one) ?? 0) + amount)
    return amounts
  }

  /** Of queues that have borrowed, and held it for as long as it is lent. */
  private ofLentQuota(asked: Asked, { deadlineMs, rule, wanted }: LentRight): Taking | Block | 'waits' | null {
    const { workload } = asked
    const { queue } = workload
    const roomOf = (limits: RoomLimits) =>
      new LentRoom(this.books.quota, this.cell.fleet, queue.name, wanted, this.going, limits)
    const room = roomOf(this.roomLimits)
    const candidates: Candidates = { victims: [], shrinking: new Map(), refused: new Refusals() }
    for (const there of this.books.running.values())
      for (const victim of there) {
        if (!room.isBorrower(victim)) continue
        const lentUntil = victim.run!.startedAt + deadlineMs
        if (lentUntil > this.at) candidates.refused.until(lentUntil, rule)
        else this.consider(victim, workload, candidates)
      }
    const found = this.search(asked, candidates, roomOf)
    if (found === null || found === 'waits' || 'code' in found) return found
    return { ...found, rule, side: null, victimSide: null }
  }

  private get roomLimits(): RoomLimits {
    return {
      teamLeft: (team) => this.allowance.leftOfTeam(team),
      cellLeft: this.allowance.leftOfCell,
      lossMax: lossMaxOf(limitsOf(this.policy)),
    }
  }

  /** Whether it is a candidate, or could be once it has shrunk. */
  private consider(victim: Workload, forWhom: Workload, { refused, shrinking, victims }: Candidates): boolean {
    const keeps = this.shrinking.get(victim)
    if (keeps !== undefined && this.mayShrinkFurther(victim, forWhom)) shrinking.set(victim, keeps)
    else if (this.mayLeave(victim, forWhom, refused)) victims.push(victim)
    else return false
    return true
  }

  /** It may have to wait for somebody who leaves, or shrinks, already. */
  private search(
    asked: Asked,
    { refused, shrinking, victims }: Candidates,
    roomOf: (limits: RoomLimits) => Room,
  ): (VictimSet & { readonly looked: number }) | Block | 'waits' | null {
    const { place, shapes, workload } = asked
    const options = optionsOf(this.books, victims, shrinking, this.at)
    const room = roomOf(this.roomLimits)
    for (const shape of shapes) {
      const look = () => this.victimsFor(asked, shape, options, room)
      const found = look()
      if (found === null) continue
      if (found.victims.some(({ workload: victim }) => shrinking.has(victim))) return 'waits'
      if (this.needOnlyShrink(found, options, look)) return 'waits'
      return {
        ...shrunkNoMore(this.books, found, this.trialOf(workload, shape), () => place(shape)),
        looked: victims.length,
      }
    }
    const dear = this.tooDear(asked, options, roomOf)
    return dear ?? refused.block() ?? this.storm(victims.length)
  }

  private victimsFor(
    { place, spare, workload }: Asked,
    shape: Shape,
    options: ReadonlyArray<VictimOption>,
    room: Room,
  ): VictimSet | null {
    return findVictims(this.trialOf(workload, shape), shape, options, room, () => place(shape), spare)
  }

  /** Those who may leave would lose too much work by it, and nothing else is in the way. */
  private tooDear(
    asked: Asked,
    options: ReadonlyArray<VictimOption>,
    roomOf: (limits: RoomLimits) => Room,
  ): Block | null {
    const limits = limitsOf(this.policy)
    if (limits.lossMaxMilliUnitHours === null) return null
    const room = roomOf({ ...this.roomLimits, lossMax: Infinity })
    for (const shape of asked.shapes) {
      const found = this.victimsFor(asked, shape, options, room)
      const dear = losesTooMuch(limits, found?.victims.reduce((sum, { loss }) => sum + loss, 0) ?? 0)
      if (dear !== null) return dear
    }
    return null
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
  commit(workload: Workload, { victims }: VictimSet, place: Place, rate: number): void {
    this.note(this.arriving, workload.account!.node, rate)
    this.leavers.keep(place)
    for (const { frees, workload: victim, rate: freed, keeps } of victims) {
      this.gone.add(victim)
      this.leavers.add(victim.shape, frees)
      this.going.push({ parts: frees, workload: victim })
      this.note(this.leaving, victim.account!.node, freed)
      if (keeps === null) this.allowance.evict(victim.team)
      else this.shrinking.set(victim, keeps)
    }
  }

  /** Milli-units that places are kept for at the node and below. */
  readonly arrivingAt = (node: number): number => this.arriving.get(node) ?? 0

  /** A place is no longer kept: what it was for runs, or waits like others. */
  forget({ account }: Workload, place: Place): void {
    this.leavers.open(place)
    if (account !== null) this.note(this.arriving, account.node, -place.decision.needMilli)
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
    if (protection === 'excepted') {
      const exception = exceptionFor(this.policy, victim, this.at, 'not-preempted')!
      refused.until(exceptedUntil(this.policy, victim, this.at)!, exceptionRule(this.policy, exception))
    }
    if (protection === 'undrilled' || (protection === 'intolerant' && this.cell.edition === editionFirst))
      refused.undrilled()
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
      beside: (parts) => this.leavers.beside(parts),
      allows: () => !quota.limits(queue.name) || quota.verdicts(queue.name, shape).some(({ fits }) => fits),
      count: ({ frees, workload: victim }, gone) => {
        quota.count(victim, fleet, frees, gone ? -1 : 1)
      },
    }
  }

  private note(map: Map<number, number>, node: number, rate: number): void {
    for (const above of this.books.upwards(node)) map.set(above, (map.get(above) ?? 0) + rate)
  }
}
