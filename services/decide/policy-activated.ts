import { canonicalPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { PolicyActivated } from '../../domain/planner/cell-event.ts'
import { editionNow } from '../../domain/planner/edition.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { policyHash } from '../../infra/host/policy-hash.ts'

/** A policy comes into force, under the hash of what it says; its document has the keys in canonical order. */
export const policyActivated = (policy: AllocationPolicy, at: EpochMs): PolicyActivated => ({
  type: 'PolicyActivated',
  at,
  data: {
    document: JSON.parse(canonicalPolicy(policy)) as AllocationPolicy,
    edition: editionNow,
    hash: policyHash(policy),
  },
})
