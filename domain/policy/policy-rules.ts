import type { Notes, Step } from '../kernel/document.ts'
import { QuotaTree, type QuotaNodeSpec } from '../quota/quota-tree.ts'
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

/** Amounts that the quota tree holds: one per node and resource of an accelerator. */
const quotaCellsMax = 5_000_000

/**
 * What is wrong with the quota tree as a whole, once all else is right: it is too large, or cohorts would lend more than
 * lies below them. Whether there is any.
 */
export const noteTreeFaults = (policy: AllocationPolicy, notes: Notes, below: ReadonlyArray<Step>): boolean => {
  const nodes = quotaNodesOf(policy)
  const stated = new Set(nodes.flatMap(({ quotas }) => quotas.map(({ flavor, resource }) => `${flavor} ${resource}`)))
  if (nodes.length * stated.size > quotaCellsMax) {
    const reason = `with the cohorts, ${nodes.length} have quota of ${stated.size} kinds, which is too much to hold`
    notes.add(reason, 'join accelerators, or parts of the tree', ...below, 'queues')
    return true
  }
  return noteLendingFaults(policy, nodes, notes, below)
}

const noteLendingFaults = (
  { cohorts = [] }: AllocationPolicy,
  nodes: ReadonlyArray<QuotaNodeSpec>,
  notes: Notes,
  below: ReadonlyArray<Step>,
): boolean => {
  const lends = cohorts.some(({ quotas }) =>
    quotas.some((quota) => quotaResources.some((resource) => (quota[resource]?.lending ?? null) !== null)),
  )
  if (!lends) return false
  const tree = new QuotaTree(nodes)
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
