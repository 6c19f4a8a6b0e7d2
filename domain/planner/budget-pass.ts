import type { Placement } from '../fleet/fleet.ts'
import { fitsNode } from '../fleet/placement.ts'
import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { sharingOf } from '../policy/allocation-policy.ts'
import type { Block } from './block.ts'
import { budgetHeld } from './budget-held.ts'
import type { Cell } from './cell.ts'
import type { CellDecision } from './cell-event.ts'
import { dueDecisions } from './due.ts'
import { editionFirst } from './edition.ts'
import { EntitlementHold } from './entitlement-hold.ts'
import type { Line } from './line.ts'
import { Place, releasedBy } from './place.ts'
import { preemptionDecisions, type Taking } from './preemption.ts'
import { isReserve, lacksRoom, wantsRoom } from './room-reason.ts'
import { shapesBeyond, shapesWithin } from './shapes-within.ts'
import { ShareBoard } from './share-board.ts'
import { ShareWalk, type Turn } from './share-walk.ts'
import { heldMilli } from './tallies.ts'
import type { Workload } from './workload.ts'

/** Where it starts, and when it has to leave; null: never. */
export interface Start {
  readonly placement: Placement
  readonly limitAt: EpochMs | null
}

/** Places that are kept for others at one instant. */
const reservationsMax = 4

/**
 * One look at everything that waits where time is kept by a budget tree: who is next by what was served of what was owed,
 * then who may take back what is owed to it.
 */
export class BudgetPass extends ShareBoard {
  private readonly freed: ReadonlyArray<number>
  private readonly entitlementHolds = new Map<number, EntitlementHold>()
  /** There is no room for these any more, whoever asks. */
  private readonly roomless = new Set<number>()
  private readonly fitting = new Map<number, boolean>()

  constructor(cell: Cell, at: EpochMs) {
    super(cell, at)
    this.freed = [...cell.freed].sort((a, b) => a - b)
  }

  run(): ReadonlyArray<CellDecision> {
    this.decisions.push(...dueDecisions(this.cell, this.books, this.policy, this.at))
    this.findOverruns()
    this.settlePlaces()
    this.startByShare()
    if (sharingOf(this.policy) === 'budgets') this.takeBack()
    for (const decision of budgetHeld(this)) this.decisions.push(decision)
    return this.decisions
  }

  /** Places that are complete are moved into; those whose time is up, or that are lost, are anybody's. */
  private settlePlaces(): void {
    const { places, workloads } = this.cell
    for (const [id, place] of places) {
      const lostBy = this.lostBy(place)
      const complete = lostBy === null && place.isComplete()
      if (lostBy === null && !complete && this.at < place.decision.holdUntil) continue
      this.openPlaces.push(place)
      this.keep(place, false)
      const workload = workloads.get(id)!
      this.taking.forget(workload, place)
      const block = complete ? this.moveIn(workload, place) : null
      if (complete && block === null) continue
      // What is in the way of moving in comes before what became of the place.
      const [because, rule] = releasedBy(block === null ? lostBy : null, block?.rule ?? null)
      this.decisions.push({ type: 'PlaceReleased', at: this.at, data: { because, rule, workload: id } })
    }
  }

  /** Who cannot shrink is asked for something else, or another is: nobody waits for it until the time is up. */
  private lostBy(place: Place): 'fleet' | 'workload' | null {
    const { edition, fleet, workloads } = this.cell
    if (place.isLost(fleet)) return 'fleet'
    return edition !== editionFirst && place.isWithheld(workloads) ? 'workload' : null
  }

  /** What has changed since the place was decided on may be in the way now. */
  private moveIn(workload: Workload, { decision: { rule }, parts }: Place): Block | null {
    if (workload.account === null) return { code: 'Misconfigured', rule: 'spec.budgets.tree' }
    const placement = { parts, score: null, alternative: null }
    const capped = this.check.caps(workload)
    if (capped !== null) return capped
    const within = shapesWithin(this.cell, this.books, workload)
    if ('code' in within) return within
    const firm = this.firmAt(workload, placement)
    if ('code' in firm) return firm
    this.take(workload, placement, rule, firm.limitAt)
    return null
  }

  private startByShare(): void {
    const walk = new ShareWalk(this.books, this.classes, this.at)
    for (const turn of this.turns) {
      const workload = this.firstWaiting(turn.line)
      if (workload !== null && (this.mayFit(turn.line, workload) || this.isDue(workload, turn.node)))
        walk.put(turn, workload)
    }
    for (let turn = walk.next(); turn !== null; turn = walk.next()) {
      const roomless = this.roomless.size
      walk.pass(turn, this.serve(turn))
      if (this.roomless.size > roomless) this.passOver(turn.line.shape, walk)
    }
  }

  /** Nobody else need be asked in turn who asks for what there is no room for, but those for whom a place is kept. */
  private passOver(shape: Shape, walk: ShareWalk): void {
    for (const turn of this.turns) {
      const { line, node, workload } = turn
      if (!turn.isOpen || line.shape !== shape || this.isDue(workload, node)) continue
      const barred = this.barred(workload)
      this.noteBlock(turn, 'code' in barred ? barred : this.roomBlock(workload))
      walk.pass(turn, null)
    }
  }

  private noteBlock(turn: Turn, block: Block): void {
    turn.block ??= block
    turn.isOutrun ||= wantsRoom.has(block.code) && this.fitting.get(turn.line.shape.index) === true
  }

  /** Starts the workload if it may; returns whose turn in its line is next. */
  private serve(turn: Turn): Workload | null {
    const { line, node, workload } = turn
    const block = this.start(workload)
    if (block === null) return this.firstWaiting(line, workload.slot)
    this.noteBlock(turn, block)
    if (block.code === 'WouldDelayReservation') {
      const shorter = line.endingWithin(workload.slot + 1, this.lastReservedAt - this.at)
      return shorter !== null && !this.started.has(shorter) && !this.hasPlace(shorter) ? shorter : null
    }
    if (this.isDue(workload, node)) this.keepFor(workload, block)
    return null
  }

  /** Others may go before it only where that does not delay it. */
  private keepFor(workload: Workload, { code }: Block): void {
    if (this.keepers.length >= reservationsMax) return
    const firm = code === 'NonPreemptibleOverQuota' && this.check.fitsEntitlement(workload)
    if (!firm && !wantsRoom.has(code)) return
    this.reservations.push(this.reserve(workload.shape, this.check.keptFromOthers(workload)))
    this.keepers.push(workload)
    const program = this.check.programOf(workload.account!.node)
    if (firm && !this.entitlementHolds.has(program))
      this.entitlementHolds.set(program, new EntitlementHold(this.cell, this.books, this.check, workload, program))
  }

  private get lastReservedAt(): number {
    return this.reservations.reduce((last, { until }) => (until === Infinity ? last : Math.max(last, until)), -Infinity)
  }

  /** Whether there is reason to try: something that was not there when it was tried last. */
  private mayFit(line: Line, workload: Workload): boolean {
    const { policyIsNew, untried } = this.cell
    const code = workload.hold?.code
    if (policyIsNew || untried.has(line) || code === undefined) return true
    if (!lacksRoom.has(code)) return true
    // Who left gave quota back as well: of another class than the one that had no room, with room that was there before.
    if (this.freed.length > 0 && this.books.quota.limits(workload.queue.name)) return true
    const { shape } = line
    const known = this.fitting.get(shape.index)
    if (known !== undefined) return known
    const fits = this.fitsFreed(shape)
    this.fitting.set(shape.index, fits)
    return fits
  }

  private fitsFreed(shape: Shape): boolean {
    const { span, devices } = shape.request
    if (span !== 'node' && devices > 0) return this.freed.length > 0
    return this.freed.some((node) => fitsNode(this.cell.fleet, shape, node))
  }

  private start(workload: Workload): Block | null {
    const start = this.startOf(workload)
    if ('code' in start) return start
    this.take(workload, start.placement, null, start.limitAt)
    return null
  }

  /** Where it may start as the pass stands, and counts as started for those whose places are kept; or why it may not. */
  private startOf(workload: Workload): Start | Block {
    const shapes = this.barred(workload)
    if ('code' in shapes) return shapes
    let block: Block | null = null
    for (const shape of shapes) {
      const placement = this.place(shape, workload)
      if (placement === null) {
        if (shape === workload.shape) this.roomless.add(shape.index)
        block ??= this.roomBlock(workload)
        continue
      }
      let start = this.startAt(workload, placement)
      if ('code' in start && start.code === 'WouldDelayReservation' && shape.request.span === 'node') {
        // A place may be kept on just that node.
        const except = placement.parts[0]!.node
        const beside = this.cell.placer.place(shape, this.rules, workload.seq, { only: null, except })
        if (beside !== null) start = this.startAt(workload, beside)
      }
      if (!('code' in start)) return start
      block = start
    }
    return block ?? this.roomBlock(workload)
  }

  /** What keeps it from starting wherever there is room, looked at before room is; else what may be placed for it. */
  private barred(workload: Workload): ReadonlyArray<Shape> | Block {
    const capped = this.check.caps(workload)
    if (capped !== null) return capped
    const firm = this.check.firm(workload, workload.shape.needMilli, workload.account!.rate, this.taking.arrivingAt)
    return 'code' in firm ? firm : shapesWithin(this.cell, this.books, workload)
  }

  /** When it would have to leave that place, or why it may not have it though it may not be evicted. */
  private firmAt(workload: Workload, { parts }: Placement) {
    const rate = this.books.rateOf(workload.shape, parts)
    return this.check.firm(workload, heldMilli(parts), rate, this.taking.arrivingAt)
  }

  /** It may start there, unless something else than room is in the way. */
  private startAt(workload: Workload, placement: Placement): Start | Block {
    const firm = this.firmAt(workload, placement)
    if ('code' in firm) return firm
    const kept = this.check.reserves(workload, placement)
    if (kept !== null) return kept
    const endAt = this.endAtOf(workload)
    const rate = this.books.rateOf(workload.shape, placement.parts)
    const reserved = this.check.hasReserve(workload)
    const firmly = !this.cell.isPreemptible(workload, this.at)
    const hold = firmly ? this.entitlementHolds.get(this.check.programOf(workload.account!.node)) : undefined
    if (hold?.allows(rate, endAt) === false) return { code: 'WouldDelayReservation', rule: this.keeperRule }
    if (!reserved && !this.allowed(workload.shape, placement, endAt))
      return { code: 'WouldDelayReservation', rule: this.keeperRule }
    hold?.take(rate, endAt)
    return { placement, limitAt: firm.limitAt }
  }

  /** Whoever is owed enough, and found no room, takes it back from those who hold more than they are entitled to. */
  private takeBack(): void {
    const walk = new ShareWalk(this.books, this.classes, this.at)
    for (const turn of this.turns) {
      const workload = this.firstWaiting(turn.line)
      if (workload !== null && this.isShort(turn, workload) && this.taking.mayAsk(workload)) walk.put(turn, workload)
    }
    for (let turn = walk.next(); turn !== null; turn = walk.next()) walk.pass(turn, this.reclaim(turn))
  }

  private isShort({ block }: Turn, workload: Workload): boolean {
    const held = block ?? workload.hold
    if (held === null) return false
    return lacksRoom.has(held.code) || isReserve(held) || held.code === 'WaitingForQuota'
  }

  private reclaim(turn: Turn): Workload | null {
    const { line, workload } = turn
    const capped = this.check.caps(workload)
    const shapes = capped === null ? shapesBeyond(this.cell, this.books, workload) : capped
    const spare = this.check.hasReserve(workload) ? 0 : this.check.keptFromOthers(workload)
    const found =
      'code' in shapes
        ? shapes
        : this.taking.find(workload, shapes, (shape) => this.placeBeside(shape, workload), spare)
    if (found === null) return null
    if ('code' in found) {
      turn.block = found
      return null
    }
    const firm = this.firmAt(workload, found.placement)
    if ('code' in firm) {
      turn.block = firm
      return null
    }
    if (!this.leavesPlaces(workload, found)) {
      turn.block = { code: 'WouldDelayReservation', rule: this.keeperRule }
      return null
    }
    this.preempt(workload, found)
    return this.firstWaiting(line, workload.slot)
  }

  /** Those whose places were reserved before its own could still have them. */
  private leavesPlaces(workload: Workload, { victims, placement }: Taking): boolean {
    const own = this.keepers.indexOf(workload)
    const leaving = victims.map(({ workload: victim, frees }) => ({
      at: this.endOfRun(victim),
      shape: victim.shape,
      parts: frees,
    }))
    return this.allowed(workload.shape, placement, this.endAtOf(workload), leaving, own < 0 ? this.keepers.length : own)
  }

  private preempt(workload: Workload, reclaim: Taking): void {
    const rate = this.books.rateOf(workload.shape, reclaim.placement.parts)
    const decisions = preemptionDecisions(this, workload, reclaim, rate)
    this.decisions.push(...decisions)
    const [decided] = decisions
    assert(decided?.type === 'PreemptionDecided', 'a preemption is decided before anybody is asked to leave')
    const place = new Place(decided.data, this.at, workload.shape, reclaim.placement.parts)
    this.keep(place, true)
    this.newPlaces.push(place)
    this.taking.commit(workload, reclaim, place, rate)
  }
}
