import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { PlacementRequest } from '../workload/request.ts'

/** One row of a trace, whatever its format: what was asked for, when, and how long it ran. */
export interface TraceJob {
  readonly id: string
  /** Null where the format has no times (then only a static fill makes sense). */
  readonly submitAt: EpochMs | null
  readonly runMs: DurationMs | null
  /** What the scheduler may know beforehand; null: unknown. */
  readonly estimateMs: DurationMs | null
  readonly class: string
  readonly queue: string
  readonly team: string
  readonly request: PlacementRequest
}
