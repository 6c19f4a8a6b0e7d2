import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { ReasonCode } from '../../domain/planner/reason-code.ts'
import { waitedBy, type Workload } from '../../domain/planner/workload.ts'

/** One that waits. Times in ms, GPU in thousandths. */
export interface QueueRow {
  readonly queue: string
  /** 1 is the head of its queue; null: it is on hold, and stands in no order. */
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
  /** Queue by queue, each from its head on; then what is on hold, in order of submission. */
  readonly rows: ReadonlyArray<QueueRow>
  /** Those that wait or are on hold and are not listed. */
  readonly more: number
  /** Of all queues. */
  readonly running: number
  readonly onHold: number
}

/**
 * What waits, in order, and what is on hold. Null: there is no such queue.
 * @param only  of this queue; null: of all
 * @param limit so many of each queue, and as many that are on hold; 0: all
 */
export const queueOf = (cell: Cell, only: string | null, limit: number): QueueAnswer | null => {
  if (only !== null && !cell.queueNamed.has(only)) return null
  const rows: QueueRow[] = []
  const most = limit === 0 ? Infinity : limit
  let more = 0
  for (const queue of cell.queueNamed.values()) {
    if (only !== null && queue.name !== only) continue
    let position = 0
    for (let workload = queue.head; workload !== null; workload = workload.next) {
      if (++position > most) {
        more += queue.size - most
        break
      }
      rows.push(rowOf(cell, workload, position))
    }
  }
  const onHold = onHoldIn(cell)
  const held = only === null ? onHold : onHold.filter(({ queue }) => queue.name === only)
  for (const workload of held.slice(0, most)) rows.push(rowOf(cell, workload, null))
  more += Math.max(0, held.length - most)
  return { at: cell.now, rows, more, running: runningIn(cell, onHold.length), onHold: onHold.length }
}

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
