import { nearest } from '../kernel/wording.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes } from '../policy/budget-node-path.ts'
import type { Cell } from './cell.ts'
import type { Workload } from './workload.ts'

/** What a workload names, or its queue for it, and the policy does not have. */
export interface Misnamed {
  readonly kind: 'queue' | 'budget'
  /** Null: neither it nor its queue names a budget. */
  readonly name: string | null
  /** Its queue names the budget, and not the workload itself. */
  readonly byQueue: boolean
  /** What was probably meant; null: nothing is like it. */
  readonly meant: string | null
  /** Leaves below the budget that it names, which is none itself. */
  readonly leaves: ReadonlyArray<string>
}

/** Null: the policy as it is now has all that it names. */
export const misnamedBy = ({ books, policy }: Cell, workload: Workload): Misnamed | null => {
  if (policy === null) return null
  const { queue, account, terms } = workload
  if (queue.index < 0) {
    const names = policy.queues.map(({ name }) => name)
    return { kind: 'queue', name: queue.name, byQueue: false, meant: nearest(queue.name, names), leaves: [] }
  }
  if (books === null || account !== null) return null
  return misnamedBudget(policy, terms.budget, policy.queues[queue.index]?.budget ?? null)
}

const misnamedBudget = (policy: AllocationPolicy, own: string | null, ofQueue: string | null): Misnamed => {
  const name = own ?? ofQueue
  const nodes = policy.budgets === undefined ? [] : [...budgetNodes(policy.budgets)]
  const leaves = nodes.flatMap(([path, { node }]) => (node.children.length === 0 ? [path] : []))
  return {
    kind: 'budget',
    name,
    byQueue: own === null,
    meant: name === null ? null : nearest(name, leaves),
    leaves: leaves.filter((path) => name !== null && path.startsWith(`${name}/`)),
  }
}
