import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { standsInOrder } from '../../domain/planner/ahead.ts'
import type { ReasonCode } from '../../domain/planner/reason-code.ts'
import { servingSequences } from '../../domain/planner/serving-sequence.ts'
import type { WaitingQueue } from '../../domain/planner/waiting-queue.ts'
import { waitedBy, type Workload } from '../../domain/planner/workload.ts'

/** One that waits. Times in ms, GPU in thousandths. */
export interface QueueRow {
  readonly queue: string
  /** Path of its person in the budget tree; null: nobody keeps books, or they have no place for it. */
  readonly budget: string | null
  /** 1 is the first of its person's part there, else of its queue; null: it stands in no order. */
  readonly position: number | null
  readonly workload: string
  readonly class: string
  readonly needDevices: number
  /** Of all its devices; 0 where their memory decides it. */
  readonly needMilli: number
  /** Of each device. */
  readonly needMemoryMib: number
  readonly submittedAt: EpochMs
  /** In all: not while it ran. */
  readonly waitedMs: DurationMs
  /** Null until a pass has looked at it. */
  readonly code: ReasonCode | null
  readonly projectedStartAt: EpochMs | null
}

export interface QueueAnswer {
  readonly at: EpochMs
  /**
   * In the order in which they are served where books are kept, else queue by queue; then those for whom the policy has
   * no place, and what is on hold, in order of submission.
   */
  readonly rows: ReadonlyArray<QueueRow>
  /** Those that wait or are on hold and are not listed. */
  readonly more: number
  /** Of all queues. */
  readonly running: number
  readonly onHold: number
  /** What runs and is on hold, the first of it in order of submission: it does not start again once it is stopped. */
  readonly heldRunning: ReadonlyArray<string>
  /** What the policy lets the pool do: where nothing is decided, nothing starts. */
  readonly standing: Cell['standing']
}

const heldRunningMax = 10

/**
 * What waits, in order, and what is on hold. Null: there is no such queue.
 * @param only  of this queue; null: of all
 * @param limit so many of each queue, and as many that are on hold; 0: all
 */
export const queueOf = (cell: Cell, only: string | null, limit: number): QueueAnswer | null => {
  if (only !== null && !cell.queueNamed.has(only)) return null
  const most = limit === 0 ? Infinity : limit
  const { rows, waiting } = waitingRows(cell, only, most)
  const onHold = onHoldIn(cell)
  const held = only === null ? onHold : onHold.filter(({ queue }) => queue.name === only)
  const listed = rows.length
  for (const workload of held.slice(0, most)) rows.push(rowOf(cell, workload, null))
  const more = waiting - listed + Math.max(0, held.length - most)
  const heldRunning = [...cell.workloads.values()].flatMap(({ id, onHold, run }) =>
    onHold && run !== null ? [id] : [],
  )
  return {
    at: cell.now,
    rows,
    more,
    running: runningIn(cell, onHold.length),
    onHold: onHold.length,
    heldRunning: heldRunning.slice(0, heldRunningMax),
    standing: cell.standing,
  }
}

/** So many of each queue at most, in the order in which they are served; then those for whom the policy has no place. */
const waitingRows = (cell: Cell, only: string | null, most: number) => {
  const wanted = [...cell.queueNamed.values()].filter(({ name }) => only === null || name === only)
  const left = new Map(wanted.map((queue) => [queue, Math.min(most, queue.size)]))
  const rows: QueueRow[] = []
  const add = (workload: Workload, position: number | null) => {
    left.set(workload.queue, left.get(workload.queue)! - 1)
    rows.push(rowOf(cell, workload, position))
  }
  for (const sequence of servingSequences(cell)) {
    const positions = new Map<number, number>()
    for (const workload of sequence) {
      const part = workload.account?.node ?? -1
      const position = (positions.get(part) ?? 0) + 1
      positions.set(part, position)
      if ((left.get(workload.queue) ?? 0) > 0) add(workload, position)
      if (isEnough(cell, left, workload)) break
    }
  }
  for (const queue of wanted)
    for (let one = queue.head; one !== null && left.get(queue)! > 0; one = one.next)
      if (!standsInOrder(cell, one)) add(one, null)
  return { rows, waiting: wanted.reduce((sum, { size }) => sum + size, 0) }
}

/** Nothing more of the sequence is listed: it is of one queue, unless books are kept. */
const isEnough = ({ books }: Cell, left: ReadonlyMap<WaitingQueue, number>, { queue }: Workload): boolean =>
  books === null ? (left.get(queue) ?? 0) === 0 : [...left.values()].every((count) => count === 0)

/** What somebody asked to wait and does not run: it stands in no queue. In order of submission. */
export const onHoldIn = ({ workloads }: Cell): ReadonlyArray<Workload> => {
  const held: Workload[] = []
  for (const workload of workloads.values()) if (workload.onHold && workload.run === null) held.push(workload)
  return held.sort((a, b) => a.seq - b.seq)
}

/** @param onHold so many of what does not run stand in no queue */
const runningIn = ({ queueNamed, workloads }: Cell, onHold: number): number => {
  let waiting = 0
  for (const { size } of queueNamed.values()) waiting += size
  return workloads.size - waiting - onHold
}

const rowOf = (cell: Cell, workload: Workload, position: number | null): QueueRow => ({
  queue: workload.queue.name,
  budget: workload.account === null ? null : cell.books!.ledger.path(workload.account.node),
  position,
  workload: workload.id,
  class: workload.class,
  needDevices: workload.shape.request.devices,
  needMilli: workload.shape.needMilli,
  needMemoryMib: workload.shape.request.memoryMib,
  submittedAt: workload.submittedAt,
  waitedMs: waitedBy(workload, cell.now),
  // It is so at once, and told by the next pass.
  code: workload.onHold ? 'OnHold' : (workload.hold?.code ?? null),
  projectedStartAt: workload.onHold ? null : (workload.hold?.projectedStartAt ?? null),
})
