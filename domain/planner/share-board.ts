import type { Placement } from '../fleet/fleet.ts'
import { everywhere } from '../fleet/score-cache.ts'
import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { classesOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { boundOf, reserveAfterOf, type ClassPolicy } from '../policy/budget-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type { Line } from './line.ts'
import { PassBoard } from './pass-board.ts'
import type { Place } from './place.ts'
import { unknownEnd, type ExpectedEnd } from './reservation.ts'
import { StartCheck } from './start-check.ts'
import type { Turn } from './share-walk.ts'
import { TakingBack } from './taking-back.ts'
import type { Workload } from './workload.ts'

const fragmentedRoom: Block = { code: 'FragmentedCapacity', rule: 'spec.placement.strategy' }
const noRoom: Block = { code: 'WaitingForCapacity', rule: 'spec.placement.strategy' }

/** Per mille of the runs of a kind: a run is hardly ever longer. */
const nearlyAll = 950

/**
 * What a pass by budgets stands on and leaves behind: the books as if what it starts ran already, places that it opens
 * and keeps, and why others do not start. All of it is taken back by `undo`.
 */
export class ShareBoard extends PassBoard {
  readonly books: Books
  readonly policy: AllocationPolicy
  readonly check: StartCheck
  readonly taking: TakingBack
  /** One of each line. */
  readonly turns: Turn[] = []
  /** Whose place is kept, in the order of the reservations. */
  readonly keepers: Workload[] = []
  protected readonly classes: ReadonlyMap<string, ClassPolicy>
  protected readonly newPlaces: Place[] = []
  protected readonly openPlaces: Place[] = []
  /** For whom a place is kept, as the pass stands. */
  protected readonly placed: Set<string>

  constructor(cell: Cell, at: EpochMs) {
    super(cell, at)
    const { books, policy } = cell
    assert(books !== null && policy !== null, 'a pass by budgets follows books')
    this.books = books
    this.policy = policy
    this.classes = classesOf(policy)
    this.placed = new Set(cell.places.keys())
    books.advance(at)
    this.check = new StartCheck(cell, books, policy, at)
    this.taking = new TakingBack(cell, books, policy, at)
    for (const [node, lines] of books.lines)
      for (const line of lines)
        this.turns.push({ node, line, workload: line.first!, isOpen: false, block: null, isOutrun: false })
  }

  override undo(): void {
    for (const place of this.newPlaces) this.keep(place, false)
    for (const [workload, { parts }] of [...this.started].reverse()) this.books.waitAgain(workload, parts)
    super.undo()
    for (const place of this.openPlaces) this.keep(place, true)
  }

  /** First of the line that still waits as the pass stands, and has no place kept for it. */
  firstWaiting(line: Line, from = 0): Workload | null {
    let workload = line.atOrAfter(from)
    while (workload !== null && ((this.started.size > 0 && this.started.has(workload)) || this.hasPlace(workload)))
      workload = line.atOrAfter(workload.slot + 1)
    return workload
  }

  get newlyKept(): ReadonlyArray<Place> {
    return this.newPlaces
  }

  hasPlace({ id }: Workload): boolean {
    return this.placed.size > 0 && this.placed.has(id)
  }

  protected override estimateOf({ class: kind, estimateMs, team }: Workload): DurationMs | null {
    return estimateMs ?? this.cell.durations.quantile(kind, team, nearlyAll)
  }

  /** Who waits for a place is not to wait longer for it: it is taken to run as long as nearly all of its kind did. */
  protected override endAtOf(workload: Workload): number {
    const { class: kind, estimateMs, team } = workload
    const longMs = estimateMs ?? this.cell.durations.quantile(kind, team, nearlyAll)
    return longMs === null ? Infinity : this.at + longMs
  }

  protected override expectedAnew(workload: Workload, ranMs: number): EpochMs {
    const longer = this.cell.durations.quantile(workload.class, workload.team, 500, ranMs)
    return longer === null ? super.expectedAnew(workload, ranMs) : ((workload.run!.startedAt + longer) as EpochMs)
  }

  protected override endOfRun(workload: Workload): number {
    const end = super.endOfRun(workload)
    return end === Infinity ? unknownEnd(workload.run!.startedAt) : end
  }

  /** Else a place would be kept from nobody while all that is in its way might run for ever. */
  protected override unknownEnds(): Iterable<ExpectedEnd> {
    const ends: (ExpectedEnd & { readonly seq: number })[] = []
    for (const { run, seq, shape } of this.cell.unending)
      ends.push({ at: unknownEnd(run!.startedAt), parts: run!.parts, seq, shape })
    for (const [workload, { parts }] of this.started)
      if (this.estimateOf(workload) === null)
        ends.push({ at: unknownEnd(this.at), parts, seq: workload.seq, shape: workload.shape })
    return ends.sort((a, b) => a.at - b.at || a.seq - b.seq)
  }

  /** The fleet, caps and quota have it as kept, or as not. */
  protected keep(place: Place, kept: boolean): void {
    const { fleet, workloads } = this.cell
    const workload = workloads.get(place.decision.workload)!
    this.books.count(workload, place.parts, kept ? 1 : -1)
    if (kept) {
      place.gather(fleet, null)
      this.placed.add(place.decision.workload)
    } else {
      place.release(fleet)
      this.placed.delete(place.decision.workload)
    }
  }

  /** Its side was served less than it is owed, and it has waited so long that its place is kept for it. */
  protected isDue(workload: Workload, node: number): boolean {
    if (this.at - workload.submittedAt < this.reserveAfterMs(workload)) return false
    const { ledger } = this.books
    // A leaf is what the policy names; whose of its persons gets it is a matter among them.
    return !ledger.servedFully(ledger.parent(node))
  }

  private reserveAfterMs({ class: kind }: Workload): DurationMs {
    return this.classes.get(kind)?.reserveAfterMs ?? reserveAfterOf(boundOf(kind))
  }

  protected get keeperRule(): string {
    const [keeper] = this.keepers
    const place = this.policy.classes?.findIndex(({ name }) => name === keeper?.class) ?? -1
    return place < 0 ? 'spec.classes' : `spec.classes[${place}].reserveAfter`
  }

  protected place(shape: Shape, { seq }: Workload): Placement | null {
    return this.cell.placer.place(shape, this.rules, seq, everywhere)
  }

  /** Where it goes without what is kept for others. */
  protected placeBeside(shape: Shape, workload: Workload): Placement | null {
    const placement = this.place(shape, workload)
    return placement === null || this.check.reserves(workload, placement) !== null ? null : placement
  }

  /** @param takenBy the rule by which others were made to make room for it; null: nobody was */
  protected take(
    workload: Workload,
    placement: Placement,
    takenBy: string | null,
    limitAt: EpochMs | null = null,
  ): void {
    const { path, node } = workload.account!
    const rule = takenBy ?? this.check.ruleOf(path)
    const milliUnits = this.books.rateOf(workload.shape, placement.parts)
    this.admit(workload, placement, rule, {
      budget: this.books.ledger.path(node),
      milliUnits,
      ...(takenBy !== null && { preempted: true as const }),
      ...(limitAt !== null && { limitAt }),
    })
    this.books.runInstead(workload, placement.parts)
  }

  roomBlock({ shape }: Workload): Block {
    const { fleet } = this.cell
    const fragmented = shape.needMilli > 0 && shape.needMilli <= fleet.freeFor(shape)
    return fragmented ? fragmentedRoom : noRoom
  }
}
