import { budgetNodes } from '../policy/budget-node-path.ts'
import type { BudgetPolicy } from '../policy/budget-policy.ts'
import type { FairTreeNode } from './fair-tree.ts'

/** What the fair tree's root is called: no path is empty. */
const everything = ''

/** The budget tree as accounts of a fair tree, by their paths; persons join when they first submit something. */
export function* accountsOf(budgets: BudgetPolicy): Generator<FairTreeNode, void> {
  yield { id: everything, kind: 'account', parent: null, shares: 1 }
  for (const [path, { node }] of budgetNodes(budgets))
    yield { id: path, kind: 'account', parent: parentOf(path), shares: node.share }
}

/** @param leaf path of a budget without projects */
export const personOf = (budgets: BudgetPolicy, leaf: string, submitter: string): FairTreeNode => {
  const persons = budgetNodes(budgets).get(leaf)?.node.persons ?? {}
  const shares = Object.hasOwn(persons, submitter) ? persons[submitter]! : 1
  return { id: `${leaf}/${submitter}`, kind: 'user', parent: leaf, shares }
}

const parentOf = (path: string): string => {
  const end = path.lastIndexOf('/')
  return end < 0 ? everything : path.slice(0, end)
}
