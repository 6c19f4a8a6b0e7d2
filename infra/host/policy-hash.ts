import { hash } from 'node:crypto'
import { canonicalPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'

/** SHA-256 in lower-case hex of what a policy means: what decisions name it by. */
export const policyHash = (policy: AllocationPolicy): string => hash('sha256', canonicalPolicy(policy))
