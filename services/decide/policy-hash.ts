import { hash } from 'node:crypto'
import { canonicalPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { PolicyActivated } from '../../domain/planner/cell-event.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'

/** A policy comes into force, under the hash of what it says. */
export const policyActivated = (policy: AllocationPolicy, at: EpochMs): PolicyActivated => {
  const text = canonicalPolicy(policy)
  return {
    type: 'PolicyActivated',
    at,
    data: { document: JSON.parse(text) as AllocationPolicy, hash: hash('sha256', text) },
  }
}
