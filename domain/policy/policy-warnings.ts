import { instantText } from '../kernel/quantity.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import { budgetWarnings } from './budget-warnings.ts'
import { contractWarnings } from './contract-warnings.ts'
import { quotaWarnings } from './quota-warnings.ts'
import { sharingWarnings } from './sharing-warnings.ts'
import { supplyOf, type SuppliedNode } from './supply.ts'
import { pastReview, warning, type Warnable, type Warning } from './warning.ts'

/**
 * What is allowed in a policy and will surprise somebody: where, why, and what to write instead. In the order of the
 * document's parts.
 * @param fleet its nodes; null: unknown
 * @param now   what dates are held against
 */
export const warningsOf = (
  policy: AllocationPolicy,
  fleet: ReadonlyArray<SuppliedNode> | null,
  now: EpochMs,
): ReadonlyArray<Warning> => {
  const warnable: Warnable = {
    policy,
    supply: fleet === null ? null : supplyOf(policy, fleet),
    today: instantText(now).slice(0, 'YYYY-MM-DD'.length),
  }
  return [
    ...metadataWarnings(warnable),
    ...sharingWarnings(warnable),
    ...quotaWarnings(warnable),
    ...budgetWarnings(warnable),
    ...contractWarnings(warnable),
  ]
}

const metadataWarnings = ({ policy, today }: Warnable): ReadonlyArray<Warning> => {
  const { impactHypothesis, owner, reviewDate } = policy
  const warnings: Warning[] = []
  if (owner === null)
    warnings.push(warning('is missing: nobody answers for this policy', 'name a person or a team', 'metadata', 'owner'))
  if (reviewDate === null)
    warnings.push(warning('is missing: nobody looks at it again', 'give a date', 'metadata', 'reviewDate'))
  else if (reviewDate < today) warnings.push(pastReview(reviewDate, 'metadata', 'reviewDate'))
  if (impactHypothesis === null)
    warnings.push(
      warning(
        'is missing: what it changes cannot be held against what it was meant to',
        'say what should become better, for whom and by how much',
        'metadata',
        'impactHypothesis',
      ),
    )
  return warnings
}
