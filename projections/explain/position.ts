import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { aheadOf, standsInOrder } from '../../domain/planner/ahead.ts'
import type { Books } from '../../domain/planner/books.ts'
import { LevelOrder } from '../../domain/planner/level-order.ts'
import type { ReasonCode } from '../../domain/planner/reason-code.ts'
import { waitedBy, type Workload } from '../../domain/planner/workload.ts'

/** One that goes before another. */
export interface AheadRow {
  readonly position: number
  readonly workload: string
  readonly team: string
  readonly submitter: string
  readonly class: string
  readonly needDevices: number
  readonly waitedMs: DurationMs
  readonly code: ReasonCode | null
}

/** Where a workload stands in the order in which it and its like are served. */
export interface PositionAnswer {
  readonly at: EpochMs
  readonly workload: string
  readonly queue: string
  /** Path of its person in the budget tree: who is ahead there goes first; null: its queue alone says. */
  readonly budget: string | null
  /** 1 is next. */
  readonly position: number
  readonly aheadCount: number
  /** The first so many of them, in order. */
  readonly ahead: ReadonlyArray<AheadRow>
  /** Others of the same leaf, whose turn it may be in between: persons are served by what they were owed. */
  readonly others: ReadonlyArray<{ readonly person: string; readonly waiting: number; readonly goesFirst: boolean }>
}

/** @returns `runs`, `on hold`: it waits for nobody; `misconfigured`: the policy has no place for it; null: there is no such workload */
export const positionOf = (
  cell: Cell,
  id: string,
  limit: number,
): PositionAnswer | 'runs' | 'on hold' | 'misconfigured' | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  if (workload.run !== null) return 'runs'
  if (workload.onHold) return 'on hold'
  if (!standsInOrder(cell, workload)) return 'misconfigured'
  const { books, now } = cell
  const { account } = workload
  books?.advance(now)
  const { count, first } = aheadOf(cell, workload, limit)
  return {
    at: now,
    workload: id,
    queue: workload.queue.name,
    budget: books === null ? null : books.ledger.path(account!.node),
    position: count + 1,
    aheadCount: count,
    ahead: first.map((one, i) => aheadRow(one, i, now)),
    others: books === null ? [] : othersOf(books, account!.node),
  }
}

/** Persons of the same leaf, in the order in which they are served. */
const othersOf = (books: Books, own: number): PositionAnswer['others'] => {
  const { ledger } = books
  const order = new LevelOrder(books)
  const ranked = order.ranked(ledger.parent(own))
  const before = ranked.indexOf(own)
  return ranked.flatMap((person, i) =>
    person === own ? [] : [{ person: ledger.path(person), waiting: order.waiting(person), goesFirst: i < before }],
  )
}

const aheadRow = (workload: Workload, i: number, now: EpochMs): AheadRow => ({
  position: i + 1,
  workload: workload.id,
  team: workload.team,
  submitter: workload.terms.submitter,
  class: workload.class,
  needDevices: workload.shape.request.devices,
  waitedMs: waitedBy(workload, now),
  code: workload.hold?.code ?? null,
})
