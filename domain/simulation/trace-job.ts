import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { PlacementRequest } from '../workload/request.ts'

/** One row of a trace, whatever its format: what was asked for, when, and how long it ran. */
export interface TraceJob {
  readonly id: string
  /** Null where the format has no times (then only a static fill makes sense). */
  readonly submitAt: EpochMs | null
  readonly runMs: DurationMs | null
  /** What the scheduler may know beforehand; null: unknown. See `estimated`. */
  readonly estimateMs: DurationMs | null
  readonly class: string
  readonly queue: string
  readonly team: string
  readonly request: PlacementRequest
}

/** Where nothing in a trace is estimated, the scheduler is taken to know how long each job runs. */
export const estimated = (jobs: ReadonlyArray<TraceJob>): ReadonlyArray<TraceJob> =>
  jobs.every(({ estimateMs }) => estimateMs === null) ? jobs.map((job) => ({ ...job, estimateMs: job.runMs })) : jobs
