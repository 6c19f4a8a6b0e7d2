import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes, isAtOrBelow } from '../policy/budget-node-path.ts'
import type { Workload } from './workload.ts'

/** What says whose time a workload's is. */
export type Charged = Pick<Workload, 'account' | 'terms'> & { readonly queue: Pick<Workload['queue'], 'index'> }

/** Path of the leaf that its time belongs to; null: nothing says which, or the policy does not have it. */
export const budgetPathOf = (
  { budgets, queues }: AllocationPolicy,
  { queue, terms }: Omit<Charged, 'account'>,
): string | null => {
  const path = terms.budget ?? queues[queue.index]?.budget ?? null
  return path !== null && budgets !== undefined && budgetNodes(budgets).get(path)?.node.children.length === 0
    ? path
    : null
}

/** Its time belongs to one of these budgets, or to one below. */
export const isWithinBudgets = (
  policy: AllocationPolicy,
  workload: Charged,
  budgets: ReadonlyArray<string>,
): boolean => {
  const path = workload.account?.path ?? budgetPathOf(policy, workload)
  return path !== null && budgets.some((budget) => isAtOrBelow(path, budget))
}
