import type { QuotaNodeSpec } from '../quota/quota-tree.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import { defaultFairWeightMilli, quotaResources, type AcceleratorQuota } from './quota-policy.ts'

/** Cohorts, then queues, as the quota tree takes them: flavors are accelerators, amounts as in the policy. */
export const quotaNodesOf = ({ cohorts = [], queues }: AllocationPolicy): ReadonlyArray<QuotaNodeSpec> => [
  ...cohorts.map(({ fairWeightMilli, name, parent, quotas }) => ({
    fairWeight: fairWeightMilli / defaultFairWeightMilli,
    kind: 'cohort' as const,
    name,
    parent,
    quotas: flatQuotas(quotas),
  })),
  ...queues.map(({ cohort = null, fairWeightMilli = defaultFairWeightMilli, name, quotas = [] }) => ({
    fairWeight: fairWeightMilli / defaultFairWeightMilli,
    kind: 'queue' as const,
    name,
    parent: cohort,
    quotas: flatQuotas(quotas),
  })),
]

const flatQuotas = (quotas: ReadonlyArray<AcceleratorQuota>): QuotaNodeSpec['quotas'] =>
  quotas.flatMap((quota) =>
    quotaResources.flatMap((resource) => {
      const stated = quota[resource]
      return stated === undefined ? [] : [{ ...stated, flavor: quota.accelerator, resource }]
    }),
  )
