import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { ReasonCode } from '../../domain/planner/reason-code.ts'
import { waitedBy } from '../../domain/planner/workload.ts'

/** One that waits. Times in ms, GPU in thousandths. */
export interface QueueRow {
  readonly queue: string
  /** 1 is the head of its queue. */
  readonly position: number
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
  /** Queue by queue, each from its head on. */
  readonly rows: ReadonlyArray<QueueRow>
  /** Those that wait and are not listed. */
  readonly more: number
  readonly running: number
}

/**
 * What waits, in order. Null: there is no such queue.
 * @param only  of this queue; null: of all
 * @param limit so many of each queue; 0: all
 */
export const queueOf = (cell: Cell, only: string | null, limit: number): QueueAnswer | null => {
  if (only !== null && !cell.queueNamed.has(only)) return null
  const rows: QueueRow[] = []
  const most = limit === 0 ? Infinity : limit
  let more = 0
  let waiting = 0
  for (const queue of cell.queueNamed.values()) {
    waiting += queue.size
    if (only !== null && queue.name !== only) continue
    let position = 0
    for (let workload = queue.head; workload !== null; workload = workload.next) {
      if (++position > most) {
        more += queue.size - most
        break
      }
      rows.push({
        queue: queue.name,
        position,
        workload: workload.id,
        class: workload.class,
        needDevices: workload.shape.request.devices,
        needMilli: workload.shape.needMilli,
        needMemoryMib: workload.shape.request.memoryMib,
        submittedAt: workload.submittedAt,
        waitedMs: waitedBy(workload, cell.now),
        code: workload.hold?.code ?? null,
        projectedStartAt: workload.hold?.projectedStartAt ?? null,
      })
    }
  }
  return { at: cell.now, rows, more, running: cell.workloads.size - waiting }
}
