import type { Notes, Step } from '../kernel/document.ts'
import { QuotaTree } from '../quota/quota-tree.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import { noteBudgetFaults } from './budget-rules.ts'
import type { Rough } from './form.ts'
import { quotaNodesOf } from './quota-nodes.ts'
import { quotaResources } from './quota-policy.ts'
import { noteQuotaFaults } from './quota-rules.ts'

/** What is wrong between parts of a policy that are right by themselves; paths begin below `spec`. */
export const noteFaultsBetween = (policy: Rough<AllocationPolicy>, notes: Notes): void => {
  noteQuotaFaults(policy, notes)
  noteBudgetFaults(policy, notes)
}

/** Cohorts that would lend more than lies below them; it takes the whole tree, so only once all else is right. */
export const noteLendingFaults = (policy: AllocationPolicy, notes: Notes, below: ReadonlyArray<Step>): boolean => {
  const { cohorts = [] } = policy
  const lends = cohorts.some(({ quotas }) =>
    quotas.some((quota) => quotaResources.some((resource) => (quota[resource]?.lending ?? null) !== null)),
  )
  if (!lends) return false
  const tree = new QuotaTree(quotaNodesOf(policy))
  const faults = notes.count
  cohorts.forEach(({ name, quotas }, i) => {
    quotas.forEach((quota, j) => {
      for (const resource of quotaResources) {
        const lending = quota[resource]?.lending ?? null
        if (lending === null) continue
        const flavorResource = tree.flavorResource(quota.accelerator, resource)!
        if (lending > tree.subtree(tree.node('cohort', name), flavorResource))
          notes.add(
            'lends more than it and all below it have',
            'give at most the sum of their nominals, without what those below keep',
            ...[...below, 'cohorts', i, 'quotas', j, resource, 'lending'],
          )
      }
    })
  })
  return notes.count > faults
}
