import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { Substitute, WorkloadIntent } from './intent.ts'

/**
 * What a workload declares beside what it needs: what it tolerates, may have instead and is due by. It is recorded with
 * every submission, whole, so that a later policy can decide about it again. Members in canonical order.
 */
export interface WorkloadTerms {
  readonly budget: string | null
  readonly deadline: EpochMs | null
  readonly elasticity: WorkloadIntent['elasticity']
  readonly modelFamily: string | null
  readonly preemption: WorkloadIntent['preemption']
  readonly submitter: string
  readonly substitutable: ReadonlyArray<Substitute>
}

/** Long enough for a framework to write its last words; that of a Kubernetes pod. */
export const defaultGracePeriodMs = 30_000 as DurationMs

/** Of a workload that declares nothing. */
export const unstatedTerms: WorkloadTerms = {
  budget: null,
  deadline: null,
  elasticity: null,
  modelFamily: null,
  preemption: {
    checkpointIntervalMs: null,
    gracePeriodMs: defaultGracePeriodMs,
    minRuntimeMs: 0 as DurationMs,
    tolerated: false,
  },
  submitter: 'unknown',
  substitutable: [],
}

export const termsOf = (intent: WorkloadIntent): WorkloadTerms => {
  const { budget, deadline, elasticity, modelFamily, preemption, submitter, substitutable } = intent
  const { checkpointIntervalMs, gracePeriodMs, minRuntimeMs, tolerated } = preemption
  return {
    budget,
    deadline,
    elasticity: elasticity && {
      maxReplicas: elasticity.maxReplicas,
      minReplicas: elasticity.minReplicas,
      resizeCostMs: elasticity.resizeCostMs,
    },
    modelFamily,
    preemption: { checkpointIntervalMs, gracePeriodMs, minRuntimeMs, tolerated },
    submitter,
    substitutable: substitutable.map(({ accelerators, count, recompileCostMs, requiresRecompile }) => ({
      accelerators,
      count,
      recompileCostMs,
      requiresRecompile,
    })),
  }
}
