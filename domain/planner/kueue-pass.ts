import type { Placement as Found } from '../fleet/fleet.ts'
import { fitsNode } from '../fleet/placement.ts'
import { everywhere } from '../fleet/score-cache.ts'
import { nominatedCycle, type HeadOutcome } from '../kueue/admission-cycle.ts'
import type { UntriedFlavors } from '../kueue/assignment.ts'
import { isPromising, nominate, type CycleContext, type Nomination } from '../kueue/nomination.ts'
import type { Victim } from '../kueue/preemption-request.ts'
import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { kueueOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Block } from './block.ts'
import type { Cell } from './cell.ts'
import type { CellDecision } from './cell-event.ts'
import { dueByPolicy } from './due.ts'
import { HoldingCheck } from './holding-check.ts'
import { roomBlock, ruleOfQueue, waitsForVictims } from './kueue-block.ts'
import type { KueueBooks } from './kueue-books.ts'
import { cycleSettings } from './cycle-settings.ts'
import { kueueHeld, type KueueReason } from './kueue-held.ts'
import { KueuePlacer } from './kueue-placer.ts'
import { KueueProtection } from './kueue-protection.ts'
import type { KueueTree } from './kueue-rest.ts'
import { hasQuota, kueueReason } from './kueue-reason.ts'
import { ruleOfVictim, victimOf } from './kueue-victim.ts'
import type { VictimOption } from './victim-option.ts'
import type { Line } from './line.ts'
import { PassBoard } from './pass-board.ts'
import { Place, releasedBy } from './place.ts'
import { preemptionDecisions } from './preemption.ts'
import { QueueOrder } from './queue-order.ts'
import { heldMilli } from './tallies.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/**
 * One look at the heads of the queues whose quota, or whose place, may have changed: cycles of admission are repeated
 * until nothing comes of another one at this instant. What quota admits and no place of the fleet holds waits.
 */
export class KueuePass extends PassBoard {
  readonly books: KueueBooks
  readonly policy: AllocationPolicy
  /** Why those wait who were looked at. */
  readonly reasons = new Map<Workload, KueueReason>()
  private readonly check: HoldingCheck
  private readonly order: QueueOrder
  readonly protection: KueueProtection
  readonly placer: KueuePlacer
  private readonly context: CycleContext
  /** Those for whom places are kept as the pass stands. */
  private readonly placed = new Set<Workload>()
  private readonly newPlaces: Place[] = []
  private readonly openPlaces: Place[] = []
  /** Trees in which a head of the last cycle found no place when its turn came, or waits for one that others may take. */
  private readonly outrun = new Set<number>()
  /** Heads of the last cycle that could have started, but for others of it, and make way. */
  private readonly overtaken: HeadOutcome[] = []
  /**
   * Where the search for flavors of those goes on who found nothing where it ended. Nobody is left here when the pass
   * ends: it is their turn again until all flavors were tried, so that the next pass begins with the first.
   */
  private readonly untried = new Map<Workload, UntriedFlavors>()
  /** Who has tried all flavors since somebody last started or evicted: to try them again would end the same way. */
  private readonly searched = new Set<Workload>()
  /** Of the books, last first. */
  private readonly undoings: (() => void)[] = []

  constructor(cell: Cell, at: EpochMs, books: KueueBooks) {
    super(cell, at)
    const { policy } = cell
    assert(policy !== null, 'quota follows a policy')
    this.books = books
    this.policy = policy
    books.bringTo(at)
    this.check = new HoldingCheck(cell, books.held, policy, at)
    books.usage?.lookAt(at)
    this.order = new QueueOrder(policy, books.usage, at)
    this.protection = new KueueProtection(cell, books, policy, at, this.order.byClass)
    this.placer = new KueuePlacer(cell, books, this.check, (shape, { seq }) =>
      cell.placer.place(shape, this.rules, seq, everywhere),
    )
    const { holdings, memo, rulesOf } = books
    const whom = { mayEvict: this.protection.mayEvict, placer: this.placer }
    this.context = { ...whom, holdings, memo, policy: kueueOf(policy), rulesOf, settings: cycleSettings }
    for (const id of cell.places.keys()) this.placed.add(cell.workloads.get(id)!)
    const mark = books.mark()
    this.undoings.push(() => {
      books.reset(mark)
    })
  }

  run(): ReadonlyArray<CellDecision> {
    this.decisions.push(...dueByPolicy(this.cell, this.policy, this.at))
    this.findOverruns()
    this.settlePlaces()
    const trees = this.books.rest.awakeAt(this.at)
    for (let awake = trees; awake.length > 0;) awake = this.cycle(awake)
    for (const tree of trees) this.books.rest.restTree(tree.root, this.lookAgainAt(tree))
    for (const decision of kueueHeld(this)) this.decisions.push(decision)
    return this.decisions
  }

  /** Why those may not leave who would have to for one that waits, were it its turn; null: nobody would. Decides nothing. */
  refusedFor(workload: Workload): Block | null {
    const { assignment, victims } = this.look(workload)
    const leaving = victims.filter(({ holder }) => !holder.evicting)
    if (leaving.length > 0) return this.tooMany(this.optionsOf(leaving))
    return assignment.mode === 'preempt' ? this.protection.blockOf(workload.id) : null
  }

  override undo(): void {
    const { fleet } = this.cell
    for (const place of this.newPlaces) place.release(fleet)
    super.undo()
    for (const place of this.openPlaces) place.gather(fleet, null)
    for (const undoing of this.undoings.reverse()) undoing()
    this.books.usage?.lookAt(this.cell.now)
  }

  hasPlace(workload: Workload): boolean {
    return this.placed.has(workload)
  }

  get keptPlaces(): ReadonlyArray<Place> {
    return [...this.cell.places.values(), ...this.newPlaces]
  }

  /** Whose turn it is in the queue; in a strict one also who waits in front for a kept place. */
  frontOf(queue: WaitingQueue): Workload | null {
    const strict = queue.ordering === 'fifo'
    const root = this.books.rest.rootOf(queue)
    let front: Workload | null = null
    for (const line of queue.lines) {
      const first = this.firstOf(line, strict)
      if (first === null || (front !== null && !this.order.isBefore(first, front))) continue
      if (strict || !this.books.rest.isParked(line, root, this.at)) front = first
    }
    return front
  }

  /** First of the line that has not started in this pass; those for whom a place is kept count only if asked for. */
  firstOf(line: Line, withPlace: boolean): Workload | null {
    let workload = line.atOrAfter(0)
    while (workload !== null && (this.started.has(workload) || (!withPlace && this.placed.has(workload))))
      workload = line.atOrAfter(workload.slot + 1)
    return workload
  }

  /** From when on time alone may make a difference: who blocks a strict queue may be overtaken by who ages faster. */
  private lookAgainAt({ queues, root }: KueueTree): number {
    const mayBeOvertaken = queues.some(({ lines, ordering }) => ordering === 'fifo' && lines.size > 1)
    return Math.min(mayBeOvertaken ? this.order.changesAt : Infinity, this.untilFor(root))
  }

  private untilFor(root: number): number {
    return Math.min(this.protection.untilFor(root), this.check.reservedUntil)
  }

  /** Why it may not start wherever there is room, and however much quota. */
  barred(workload: Workload, milli: number): Block | null {
    if (!this.books.held.bind) return null
    return this.check.caps(workload) ?? this.check.headroom(workload, milli)
  }

  private holdBarred(workload: Workload, block: Block): boolean {
    const { rest } = this.books
    const root = rest.rootOf(workload.queue)
    const parked = workload.queue.ordering !== 'fifo'
    this.reasons.set(workload, { ...block, behind: null })
    // Whoever holds less then makes a difference, as does what comes free.
    rest.lacksPlace(root)
    if (parked) rest.park(workload.line!, root, this.untilFor(root), true)
    return parked
  }

  /** Places that are complete are moved into, once quota allows it; others are given up when their time is up. */
  private settlePlaces(): void {
    const { fleet, places, workloads } = this.cell
    for (const [id, place] of places) {
      const workload = workloads.get(id)!
      const lost = place.isLost(fleet)
      const blocked = workload.queue.index < 0
      const complete = !lost && !blocked && this.isComplete(workload, place)
      if (!lost && !blocked && !complete && this.at < place.decision.holdUntil) continue
      this.openPlaces.push(place)
      place.release(fleet)
      this.placed.delete(workload)
      this.placer.promise(place.parts, -1)
      this.forget(workload, place)
      const barred = complete ? this.barred(workload, heldMilli(place.parts)) : null
      if (complete && barred === null) {
        this.take(workload, { parts: place.parts, score: null, alternative: null }, place.decision.rule, true)
        continue
      }
      const [because, rule] = releasedBy(lost ? 'fleet' : null, blocked ? 'spec.queues' : (barred?.rule ?? null))
      this.decisions.push({ type: 'PlaceReleased', at: this.at, data: { because, rule, workload: id } })
    }
  }

  /** Those who left have given back quota as well; what takes no device takes what the node has beside them. */
  private isComplete(workload: Workload, place: Place): boolean {
    const { fleet } = this.cell
    if (!place.isComplete() || !this.books.isWithinQuota(workload)) return false
    return place.parts.every(({ devices, node }) => devices.length > 0 || fitsNode(fleet, workload.shape, node))
  }

  private forget(workload: Workload, { parts }: Place): void {
    this.books.stop(workload)
    this.undoings.push(() => {
      this.books.keep(workload, parts)
    })
  }

  /** One cycle of the heads of these trees; returns those in which something came of it. */
  private cycle(trees: ReadonlyArray<KueueTree>): ReadonlyArray<KueueTree> {
    const moved = new Set<number>()
    const heads = trees.flatMap(({ queues }) => queues.flatMap((queue) => this.nominationOf(queue) ?? []))
    this.outrun.clear()
    this.overtaken.length = 0
    const outcomes = nominatedCycle(this.context, heads)
    // What needs no quota has found no place yet, and takes what those leave who have.
    for (const found of [true, false])
      for (const outcome of outcomes)
        if ((outcome.placement !== null) === found && this.carryOut(outcome))
          moved.add(this.books.holdings.rootOf(outcome.head.queue))
    this.parkOvertaken(moved)
    // Whose place another tree took is looked at again: others of its queue may do with less.
    return moved.size === 0 ? [] : trees.filter(({ root }) => moved.has(root) || this.outrun.has(root))
  }

  /**
   * What they were looked at a second time for was not all that they could take: they make way without a look anew only
   * where there will be none.
   */
  private parkOvertaken(moved: Set<number>): void {
    for (const outcome of this.overtaken) {
      const root = this.books.holdings.rootOf(outcome.head.queue)
      if (moved.has(root) || (moved.size > 0 && this.outrun.has(root))) continue
      this.hold(this.cell.workloads.get(outcome.head.id)!, outcome)
      moved.add(root)
    }
  }

  /**
   * The head of a queue as it stands; where others may pass, the first of which something could come: what is parked
   * because it could not makes no difference to whose turn it is, and neither does who is about to be: all its flavors
   * are tried in one turn.
   */
  private nominationOf(queue: WaitingQueue): Nomination | null {
    while (queue.head !== null) {
      const front = this.frontOf(queue)
      if (front === null || this.placed.has(front)) return null
      const nomination = this.look(front)
      const promising = isPromising(nomination)
      const barred = promising ? this.barred(front, front.shape.needMilli) : null
      if (barred === null && (promising || queue.ordering === 'fifo')) return nomination
      if (barred !== null) {
        if (!this.holdBarred(front, barred)) return null
        continue
      }
      const { noFitReason, untried } = nomination.assignment
      const parked = untried === null || this.searched.has(front)
      this.hold(front, { ...nomination, reason: noFitReason ?? 'WaitingForQuota', parked, untried })
    }
    return null
  }

  /** What was found out of flavors that were tried before still holds. */
  look(workload: Workload): Nomination {
    const untried = this.untried.get(workload)
    const head = this.books.asks.headOf(workload)
    if (untried !== undefined) {
      this.untried.delete(workload)
      const nomination = nominate(this.context, { ...head, untried })
      if (nomination.assignment.untried === null) this.searched.add(workload)
      return nomination
    }
    this.protection.begin(workload.id)
    this.placer.begin(workload.id)
    return nominate(this.context, head)
  }

  /** Whether it makes way, or has its turn again at once. */
  private hold(workload: Workload, outcome: HeadOutcome): boolean {
    const { assignment, head, parked, untried } = outcome
    // Of a flavor that lacks only a place more is to be said than of the next ones, which have no quota either.
    const isKnown = untried !== null && this.searched.has(workload)
    if (!isKnown && (head.untried == null || (assignment.mode !== 'noFit' && hasQuota(this.books, outcome))))
      this.reasons.set(workload, kueueReason(this, workload, outcome))
    const goesOn = untried !== null && !isKnown
    if (goesOn) this.untried.set(workload, untried)
    const lacksPlace = this.placer.placeless.has(head.id)
    return this.wait(workload, parked, lacksPlace) || goesOn
  }

  /** Whether something came of it. */
  private carryOut(outcome: HeadOutcome): boolean {
    const { head, placement, reason, victims } = outcome
    const workload = this.cell.workloads.get(head.id)!
    if (reason === null) return this.start(workload, outcome)
    if (victims.length > 0 && placement !== null) return this.evict(workload, outcome)
    if (outcome.parked) this.overtaken.push(outcome)
    return this.hold(workload, { ...outcome, parked: false })
  }

  private start(workload: Workload, { assignment, placement }: HeadOutcome): boolean {
    const { shape, seq } = workload
    const found =
      placement === null ? this.cell.placer.place(shape, this.rules, seq, everywhere) : this.placer.foundFor(placement)
    if (found === null) {
      this.reasons.set(workload, { ...roomBlock(this.cell.fleet, shape), behind: null })
      return this.wait(workload, workload.queue.ordering !== 'fifo', true)
    }
    const barred = this.barred(workload, heldMilli(found.parts)) ?? this.check.reserves(workload, found)
    if (barred !== null) return this.holdBarred(workload, barred)
    this.take(workload, found, ruleOfQueue(workload, assignment.usage.length > 0 ? 'quotas' : 'ordering'), false)
    return true
  }

  private take(workload: Workload, found: Found, rule: string, preempted: boolean): void {
    this.searched.clear()
    this.admit(workload, found, rule, preempted ? { preempted: true } : {})
    this.books.start(workload, found.parts, this.at)
    this.books.usage?.charge(workload, found.parts)
    this.undoings.push(() => {
      this.books.stop(workload)
      this.books.usage?.takeBack(workload)
    })
  }

  private evict(workload: Workload, { head, placement, victims }: HeadOutcome): boolean {
    const { books, protection } = this
    const behind = books.workloadOf(victims[0]!.holder) ?? null
    const leaving = victims.filter(({ holder }) => !holder.evicting)
    const found = this.placer.foundFor(placement!)
    if (leaving.length === 0 || found === null) {
      this.outrun.add(books.holdings.rootOf(head.queue))
      this.reasons.set(workload, waitsForVictims(workload, victims, behind))
      return false
    }
    const barred = this.barred(workload, heldMilli(found.parts))
    if (barred !== null) return this.holdBarred(workload, barred)
    const options = this.optionsOf(leaving)
    const tooMany = this.tooMany(options)
    if (tooMany !== null) {
      this.reasons.set(workload, { ...tooMany, behind })
      protection.lookAgain(books.holdings.rootOf(head.queue))
      return false
    }
    protection.commit(options.map((option) => option.workload))
    const rule = ruleOfQueue(workload, ruleOfVictim(victims[0]!))
    const looked = protection.lookedFor(head.id)
    this.keep(workload, { looked, placement: found, rule, side: null, victimSide: null, victims: options })
    this.reasons.set(workload, waitsForVictims(workload, victims, behind))
    return true
  }

  private optionsOf(leaving: ReadonlyArray<Victim>): ReadonlyArray<VictimOption> {
    const { books } = this
    return leaving.map(({ holder }) => victimOf(books, books.workloadOf(holder)!, this.at))
  }

  /** Why so many may not leave at once. */
  private tooMany(options: ReadonlyArray<VictimOption>): Block | null {
    return this.protection.tooMany(
      options.map((option) => option.workload),
      options.reduce((sum, { loss }) => sum + loss, 0),
    )
  }

  private keep(workload: Workload, taking: Parameters<typeof preemptionDecisions>[2]): void {
    this.searched.clear()
    const { books } = this
    const { parts } = taking.placement
    const decisions = preemptionDecisions(this, workload, taking, books.rateOf(parts))
    this.decisions.push(...decisions)
    const [decided] = decisions
    assert(decided?.type === 'PreemptionDecided', 'a preemption is decided before anybody is asked to leave')
    const place = new Place(decided.data, this.at, workload.shape, parts)
    place.gather(this.cell.fleet, null)
    this.newPlaces.push(place)
    this.placed.add(workload)
    this.placer.promise(parts, 1)
    books.keep(workload, parts)
    for (const victim of taking.victims) books.setLeaving(victim.workload, true)
    this.undoings.push(() => {
      for (const victim of taking.victims) books.setLeaving(victim.workload, false)
      books.stop(workload)
    })
  }

  /** It waits; parked, it makes way for those behind it, which is something that came of it. */
  private wait(workload: Workload, parked: boolean, lacksPlace: boolean): boolean {
    const { rest } = this.books
    const root = rest.rootOf(workload.queue)
    if (lacksPlace) rest.lacksPlace(root)
    if (lacksPlace && !parked) this.outrun.add(root)
    if (parked) rest.park(workload.line!, root, this.untilFor(root), lacksPlace)
    return parked
  }
}
