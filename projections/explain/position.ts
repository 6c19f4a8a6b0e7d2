import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { aheadOf, LeafOrder } from '../../domain/planner/leaf-order.ts'
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

/** @returns `runs`, `on hold`: it waits for nobody; null: there is no such workload */
export const positionOf = (cell: Cell, id: string, limit: number): PositionAnswer | 'runs' | 'on hold' | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  if (workload.run !== null) return 'runs'
  if (workload.onHold) return 'on hold'
  const { books, now, policy } = cell
  const { account } = workload
  const common = { at: now, workload: id, queue: workload.queue.name }
  if (books === null || policy === null || account === null) {
    const first: Workload[] = []
    let count = 0
    for (let one = workload.queue.head; one !== null && one !== workload; one = one.next)
      if (count++ < limit) first.push(one)
    const ahead = first.map((one, i) => aheadRow(one, i, now))
    return { ...common, budget: null, position: count + 1, aheadCount: count, ahead, others: [] }
  }
  books.advance(now)
  const { ledger, order } = books
  const { count, first } = aheadOf(books, LeafOrder.of(policy, now), workload, limit)
  const others = ledger
    .children(ledger.parent(account.node))
    .filter((person) => person !== account.node && books.lines.has(person))
    .map((person) => ({
      person: ledger.path(person),
      waiting: [...books.lines.get(person)!].reduce((sum, line) => sum + line.size, 0),
      goesFirst: order.compare(person, account.node) < 0,
    }))
  return {
    ...common,
    budget: ledger.path(account.node),
    position: count + 1,
    aheadCount: count,
    ahead: first.map((one, i) => aheadRow(one, i, now)),
    others,
  }
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
