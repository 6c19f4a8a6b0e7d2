import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { defaultBudget, type BudgetNodePolicy, type BudgetPolicy } from '../../domain/policy/budget-policy.ts'

/** A node of the budget tree that has none below it. */
export const leafNode = (name: string, share: number, capMilli: number | null = null): BudgetNodePolicy => ({
  capMilli,
  children: [],
  name,
  owner: null,
  persons: {},
  reviewDate: null,
  share,
})

/** In advise mode, with one queue and nothing else: the order of queues decides. */
export const policyWithQueues = (more: Partial<AllocationPolicy> = {}): AllocationPolicy => ({
  impactHypothesis: null,
  mode: 'advise',
  name: 'test',
  owner: null,
  placement: { mix: null, seed: 0, strategy: 'first-fit' },
  poolModes: {},
  queues: [{ name: 'default', ordering: 'greedy' }],
  reviewDate: null,
  ...more,
})

/** The same with programs, their shares and no projects. */
export const budgetPolicy = (
  shares: { readonly [program: string]: number },
  more: Partial<AllocationPolicy> = {},
  budget: Partial<BudgetPolicy> = {},
): AllocationPolicy =>
  policyWithQueues({
    budgets: {
      ...defaultBudget,
      tree: Object.entries(shares).map(([name, share]) => leafNode(name, share)),
      ...budget,
    },
    ...more,
  })
