import type { DurationMs } from '../kernel/units.ts'
import { contractOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { WorkloadTerms } from '../workload/terms.ts'

/** Time between the warning of an attempt and its end: what it declared, and no more than the policy allows. */
export const gracePeriodOf = (policy: AllocationPolicy | null, { preemption }: WorkloadTerms): DurationMs =>
  Math.min(preemption.gracePeriodMs, contractOf(policy).gracePeriodMaxMs) as DurationMs
