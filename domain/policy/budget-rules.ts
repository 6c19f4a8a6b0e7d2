import type { Notes, Step } from '../kernel/document.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import { placedBudgets } from './budget-tree.ts'
import type { Rough } from './form.ts'
import { noteUnknown } from './quota-rules.ts'

/** What names a budget that is not there, and what a budget may not be; paths begin below `spec`. */
export const noteBudgetFaults = (policy: Rough<AllocationPolicy>, notes: Notes): void => {
  const { sharing } = policy
  if ((sharing === 'fair-tree' || sharing === 'drf') && policy.budgets === undefined)
    notes.add('serves by the shares of the budget tree, and there is none', 'add spec.budgets', 'sharing')
  const placed = placedBudgets(policy.budgets)
  const known = new Set(placed.map(({ path }) => path))
  const inner = new Set(placed.flatMap(({ parent }) => (parent === null ? [] : [parent])))
  const noteBudget = (name: string | undefined, path: ReadonlyArray<Step>): void => {
    if (name === undefined || known.has(name)) return
    if (policy.budgets === undefined)
      notes.add('names a budget, and there is no budget tree', 'add spec.budgets', ...path)
    else noteUnknown('budget', name, known, notes, path)
  }
  policy.queues?.forEach(({ budget }, i) => {
    noteBudget(budget, ['queues', i, 'budget'])
    if (budget !== undefined && inner.has(budget))
      notes.add(`${budget} has projects, and work belongs to one of them`, 'name the project', 'queues', i, 'budget')
  })
  policy.reservations?.forEach(({ budget }, i) => {
    noteBudget(budget, ['reservations', i, 'budget'])
  })
  policy.exceptions?.forEach(({ subject }, i) => {
    if (subject?.kind === 'budget') noteBudget(subject.name, ['exceptions', i, 'subject', 'name'])
  })
  policy.protectedPools?.forEach(({ budgets = [] }, i) => {
    budgets.forEach((budget, j) => {
      noteBudget(budget, ['protectedPools', i, 'budgets', j])
    })
  })
  noteNodesTwice(policy, notes)
}

const noteNodesTwice = ({ protectedPools = [] }: Rough<AllocationPolicy>, notes: Notes): void => {
  const poolOf = new Map<string, string>()
  protectedPools.forEach(({ name = '', nodes = [] }, i) => {
    nodes.forEach((node, j) => {
      const pool = poolOf.get(node)
      if (pool === undefined) poolOf.set(node, name)
      else if (pool !== name)
        notes.add(`is in the protected pool ${pool} already`, 'keep one of the two', 'protectedPools', i, 'nodes', j)
    })
  })
}
