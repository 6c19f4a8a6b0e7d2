import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { PlacementRequest } from './request.ts'

export interface Substitute {
  readonly accelerators: ReadonlyArray<string>
  readonly count: number
  readonly requiresRecompile: boolean
  readonly recompileCostMs: DurationMs
}

/** A WorkloadIntent document (docs/intent.md), decoded, with every default filled in. */
export interface WorkloadIntent {
  readonly name: string
  readonly team: string
  readonly submitter: string
  /** Drives policy, not placement: training, serving, evaluation, debug ... */
  readonly class: string
  readonly queue: string
  readonly budget: string | null
  readonly modelFamily: string | null
  readonly request: PlacementRequest
  readonly substitutable: ReadonlyArray<Substitute>
  readonly elasticity: {
    readonly minReplicas: number
    readonly maxReplicas: number
    readonly resizeCostMs: DurationMs
  } | null
  readonly preemption: {
    readonly tolerated: boolean
    readonly gracePeriodMs: DurationMs
    readonly checkpointIntervalMs: DurationMs | null
    readonly minRuntimeMs: DurationMs
  }
  readonly deadline: EpochMs | null
  readonly expectedDurationMs: DurationMs | null
}
