import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import { isWithinBudgets } from './budget-path.ts'
import type { Cell } from './cell.ts'
import type { Workload } from './workload.ts'

/** Place in the policy of the pool of its own in which the victim runs and the other one has no part; -1: there is none. */
export const poolFrom = ({ fleet }: Cell, policy: AllocationPolicy, victim: Workload, other: Workload): number =>
  policy.protectedPools?.findIndex(
    ({ budgets, nodes }) =>
      isWithinBudgets(policy, victim, budgets) &&
      !isWithinBudgets(policy, other, budgets) &&
      victim.run!.parts.some(({ node }) => nodes.includes(fleet.nodes[node]!.node)),
  ) ?? -1
