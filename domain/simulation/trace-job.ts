import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { PlacementRequest } from '../workload/request.ts'
import { unstatedTerms, type WorkloadTerms } from '../workload/terms.ts'

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
  /** Absent: the trace has no column for any of it. */
  readonly stated?: StatedTerms
  /** What it declares; absent: nothing. */
  readonly terms?: WorkloadTerms
}

/** What a trace says of a job beside what it needs; null: it does not say. */
export interface StatedTerms {
  readonly budget: string | null
  readonly checkpointIntervalMs: DurationMs | null
  readonly minRuntimeMs: DurationMs | null
  readonly preemptible: boolean | null
  readonly submitter: string | null
}

export type UsualTerms = Pick<StatedTerms, 'checkpointIntervalMs' | 'minRuntimeMs' | 'preemptible'>

/** The job with what it declares: what the trace states of it, and where it says nothing, what is usual. */
export const declaring = (job: TraceJob, usual: UsualTerms): TraceJob => {
  const { budget = null, checkpointIntervalMs, minRuntimeMs, preemptible, submitter } = job.stated ?? {}
  const { preemption } = unstatedTerms
  return {
    ...job,
    terms: {
      ...unstatedTerms,
      budget,
      preemption: {
        ...preemption,
        checkpointIntervalMs: checkpointIntervalMs ?? usual.checkpointIntervalMs,
        minRuntimeMs: minRuntimeMs ?? usual.minRuntimeMs ?? preemption.minRuntimeMs,
        tolerated: preemptible ?? usual.preemptible ?? preemption.tolerated,
      },
      submitter: submitter ?? unstatedTerms.submitter,
    },
  }
}

/** Where nothing in a trace is estimated, the scheduler is taken to know how long each job runs. */
export const estimated = (jobs: ReadonlyArray<TraceJob>): ReadonlyArray<TraceJob> =>
  jobs.every(({ estimateMs }) => estimateMs === null) ? jobs.map((job) => ({ ...job, estimateMs: job.runMs })) : jobs
