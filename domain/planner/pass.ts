import type { Placement } from '../fleet/fleet.ts'
import { fitsNode } from '../fleet/placement.ts'
import { everywhere } from '../fleet/score-cache.ts'
import { Heap } from '../kernel/heap.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { Cell } from './cell.ts'
import type { CellDecision } from './cell-event.ts'
import { heldDecisions } from './held.ts'
import type { Line } from './line.ts'
import { PassBoard } from './pass-board.ts'
import type { Reservation } from './reservation.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/** What a queue's pass left behind, for the reasons that are given afterwards. */
export interface QueueOutcome {
  readonly queue: WaitingQueue
  /** First of the queue that did not start; null: none waits. */
  readonly head: Workload | null
  /** Where the head's place is kept, if its queue keeps one; null: nothing is known of when it starts. */
  readonly reservation: Reservation | null
}

interface Candidate {
  readonly workload: Workload
  readonly line: Line
  /** Null: the whole fleet. */
  readonly only: ReadonlyArray<number> | null
  /** Tried only if it is expected to run so long at most. */
  readonly limitMs: number
}

/**
 * One look at everything that waits, at one instant. What it starts is taken from the fleet while it lasts and given
 * back by `undo`: the cell is left as it was found.
 */
export class Pass extends PassBoard {
  readonly outcomes: QueueOutcome[] = []
  private readonly freed: ReadonlyArray<number>
  /** What fits nowhere now is held by want of capacity alone, so that only freed nodes need be looked at again. */
  private readonly onlyCapacityHolds: boolean

  constructor(cell: Cell, at: EpochMs) {
    super(cell, at)
    this.freed = [...cell.freed].sort((a, b) => a - b)
    this.onlyCapacityHolds = cell.queues.every(({ ordering }) => ordering === 'greedy')
  }

  run(): ReadonlyArray<CellDecision> {
    this.findOverruns()
    for (const queue of this.cell.queues) {
      if (queue.ordering === 'greedy') {
        this.outcomes.push({ queue, head: null, reservation: null })
        this.startWhatFits(queue)
        continue
      }
      const head = this.startFromHead(queue)
      const keeps = queue.ordering === 'reserve' && head !== null && (queue.size > 1 || this.cell.queues.length > 1)
      const reservation = keeps ? this.reserve(head.shape) : null
      this.outcomes.push({ queue, head, reservation })
      if (reservation === null) continue
      this.reservations.push(reservation)
      this.startWhatFits(queue)
    }
    for (const decision of heldDecisions(this)) this.decisions.push(decision)
    return this.decisions
  }

  /** First of the line that still waits as the pass stands. */
  firstNotStarted(line: Line): Workload | null {
    return this.notStarted(line, 0)
  }

  /** Starts in order up to the first that may not; returns that one. */
  private startFromHead(queue: WaitingQueue): Workload | null {
    for (let workload = queue.head; workload !== null; workload = workload.next)
      if (this.start(workload, null) !== 'started') return workload
    return null
  }

  /** Goes through the queue in order and starts whatever fits and delays no reservation. */
  private startWhatFits(queue: WaitingQueue): void {
    const candidates = new Heap<Candidate>(({ workload }) => workload.seq)
    for (const line of queue.lines) {
      const only = this.placesFor(line)
      const workload = only?.length === 0 ? null : this.notStarted(line, 0)
      if (workload !== null) candidates.push({ workload, line, only, limitMs: Infinity })
    }
    for (let candidate = candidates.pop(); candidate !== undefined; candidate = candidates.pop()) {
      const { workload, line, only } = candidate
      const outcome = this.start(workload, only)
      if (outcome === 'no room') continue
      const limitMs = outcome === 'started' ? candidate.limitMs : this.lastReservedAt - this.at
      const next = this.notStarted(line, workload.slot + 1, limitMs)
      if (next !== null) candidates.push({ workload: next, line, only, limitMs })
    }
  }

  /**
   * Behind one that would delay a reservation only those of its kind are tried in this pass that end before the last
   * of them: the others want the same place for as long.
   */
  private get lastReservedAt(): number {
    return this.reservations.reduce((last, { at }) => (at === Infinity ? last : Math.max(last, at)), -Infinity)
  }

  /** The line's first from this slot on that has not started in this pass and is expected to run so long at most. */
  private notStarted(line: Line, slot: number, limitMs = Infinity): Workload | null {
    const from = (at: number) => (limitMs === Infinity ? line.atOrAfter(at) : line.endingWithin(at, limitMs))
    let workload = from(slot)
    while (workload !== null && this.started.has(workload)) workload = from(workload.slot + 1)
    return workload
  }

  /** Where a line's requests may fit; null: anywhere in the fleet. */
  private placesFor(line: Line): ReadonlyArray<number> | null {
    const { policyIsNew, untried } = this.cell
    if (!this.onlyCapacityHolds || policyIsNew || untried.has(line)) return null
    const { span, devices } = line.shape.request
    if (span !== 'node' && devices > 0) return this.freed.length === 0 ? [] : null
    return this.freed.filter((node) => fitsNode(this.cell.fleet, line.shape, node))
  }

  private start(workload: Workload, only: ReadonlyArray<number> | null): 'started' | 'delays' | 'no room' {
    const { placer } = this.cell
    const { shape, seq } = workload
    const placement = placer.place(shape, this.rules, seq, only === null ? everywhere : { only, except: -1 })
    if (placement === null) return 'no room'
    const endAt = workload.estimateMs === null ? Infinity : this.at + workload.estimateMs
    if (this.allowed(shape, placement, endAt)) return this.take(workload, placement)
    if (shape.request.span !== 'node') return 'delays'
    // The head may need just that node: beside it the place stays.
    const beside = placer.place(shape, this.rules, seq, { only, except: placement.parts[0]!.node })
    if (beside !== null && this.allowed(shape, beside, endAt)) return this.take(workload, beside)
    return 'delays'
  }

  private take(workload: Workload, placement: Placement): 'started' {
    this.admit(workload, placement, `spec.queues[${workload.queue.index}].ordering`)
    return 'started'
  }
}
