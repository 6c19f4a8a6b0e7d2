import type { Case } from './case-file.ts'
import type { Outcome } from './comparison.ts'
import { kueueQuotaAdapters } from './kueue-preemption-quota.ts'
import { kueuePreemptionAdapters } from './kueue-preemption-victims.ts'
import { drfAdapters } from './drf-adapter.ts'
import { fairTreeAdapters } from './fair-tree-adapter.ts'
import { usageOrderingAdapters } from './usage-ordering-adapter.ts'
import { kueueAdmissionAdapters } from './kueue-admission.ts'
import { placementAdapter } from './topology-placement.ts'

/** Feeds the cases of one kind to the calculator that answers them. */
export interface Adapter {
  /** Which cases of its kind it takes; absent: all. */
  readonly supports?: (one: Case) => boolean
  readonly run: (one: Case) => Outcome
  /** Paths of lists in `expect` whose order says nothing: `victims`, `jobs[].tasks`. */
  readonly unordered?: ReadonlyArray<string>
}

export type Adapters = ReadonlyMap<string, Adapter>

/** By kind. A rule that learns to answer a kind of case enters its adapter here, and raises its area's floor. */
export const adapters: Adapters = new Map([
  ...drfAdapters,
  ...fairTreeAdapters,
  ...usageOrderingAdapters,
  ...kueueQuotaAdapters,
  ...kueuePreemptionAdapters,
  ...kueueAdmissionAdapters,
  ['placement', placementAdapter],
])
