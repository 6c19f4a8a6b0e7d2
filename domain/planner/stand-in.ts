import { canPlace } from '../fleet/spanning.ts'
import { BudgetPass } from './budget-pass.ts'
import type { Cell } from './cell.ts'
import type { LeasePart } from './cell-event.ts'
import type { Asking } from './hint.ts'
import { wantsRoom } from './room-reason.ts'
import type { Workload } from './workload.ts'

/**
 * What the next pass would make of a workload that asked for something else, found out on the cell itself, where nobody
 * else gets anything in that pass: then nothing needs to be played through. The cell is left as it was.
 */
export class StandIn extends BudgetPass {
  private readonly own: Workload
  private readonly roomFor = new Map<number, boolean>()

  /** Null: the pass could have to do with others, too. */
  static of(cell: Cell, own: Workload): StandIn | null {
    if (cell.books === null || own.account === null || cell.places.has(own.id)) return null
    for (const place of cell.places.values())
      if (cell.now >= place.decision.holdUntil || place.isLost(cell.fleet) || place.isComplete()) return null
    return new StandIn(cell, own)
  }

  private constructor(cell: Cell, own: Workload) {
    super(cell, cell.now)
    this.own = own
    // Whoever is first of its line is looked for without it.
    this.placed.add(own.id)
  }

  /** Where it starts at once; null: it does not, or nobody knows. */
  starts(asking: Asking): ReadonlyArray<LeasePart> | null {
    const { own } = this
    const other = this.asks(asking)
    this.books.waitInstead(own, other)
    try {
      const start = this.startOf(other)
      if ('code' in start || this.concernsOthers()) return null
      return start.placement.parts.map((part) => this.cell.fleet.partNamed(part))
    } finally {
      this.books.waitInstead(other, own)
    }
  }

  /** As if it were submitted now. */
  private asks({ request, estimateMs, tolerated }: Asking): Workload {
    const { cell, own } = this
    const { preemption } = own.terms
    const shape = request === undefined ? own.shape : cell.shapes.intern({ ...own.shape.request, ...request })
    return {
      ...own,
      account: { ...own.account!, isCounted: true, rate: this.books.waitingRate(shape) },
      estimateMs: estimateMs ?? own.estimateMs,
      seq: cell.submissions,
      shape,
      submittedAt: this.at,
      terms: { ...own.terms, preemption: { ...preemption, tolerated: tolerated ?? preemption.tolerated } },
    }
  }

  /** Somebody might start as well, or have a place kept. */
  private concernsOthers(): boolean {
    return this.turns.some(({ line, node }) => {
      const first = this.firstWaiting(line)
      if (first === null) return false
      const isDue = this.isDue(first, node)
      if (!isDue && !this.hasRoomFor(first)) return false
      const start = this.startOf(first)
      return !('code' in start) || (isDue && (wantsRoom.has(start.code) || start.code === 'NonPreemptibleOverQuota'))
    })
  }

  private hasRoomFor({ shape }: Workload): boolean {
    const known = this.roomFor.get(shape.index)
    if (known !== undefined) return known
    const fits = canPlace(this.cell.fleet, shape)
    this.roomFor.set(shape.index, fits)
    return fits
  }
}
