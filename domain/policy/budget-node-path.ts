import type { BudgetNodePolicy, BudgetPolicy } from './budget-policy.ts'

/** A node of the budget tree and where the document has it. */
export interface BudgetNodeAt {
  readonly node: BudgetNodePolicy
  /** `spec.budgets.tree[0].children[2]`. */
  readonly rule: string
}

const known = new WeakMap<BudgetPolicy, ReadonlyMap<string, BudgetNodeAt>>()

/** Every node that the document names, by its path: `research/ranking`. */
export const budgetNodes = (budgets: BudgetPolicy): ReadonlyMap<string, BudgetNodeAt> => {
  let nodes = known.get(budgets)
  if (nodes === undefined) known.set(budgets, (nodes = new Map(below(budgets.tree, '', 'spec.budgets.tree'))))
  return nodes
}

const knownCapped = new WeakMap<BudgetPolicy, ReadonlyMap<string, BudgetNodeAt>>()

/** Those of them that have a cap. */
export const cappedNodes = (budgets: BudgetPolicy): ReadonlyMap<string, BudgetNodeAt> => {
  let capped = knownCapped.get(budgets)
  if (capped === undefined) {
    capped = new Map([...budgetNodes(budgets)].filter(([, { node }]) => node.capMilli !== null))
    knownCapped.set(budgets, capped)
  }
  return capped
}

/** Whether a path leads to the node of another one, or to one below it. */
export const isAtOrBelow = (path: string, other: string): boolean => path === other || path.startsWith(`${other}/`)

function* below(
  level: ReadonlyArray<BudgetNodePolicy>,
  path: string,
  rule: string,
): Generator<readonly [string, BudgetNodeAt]> {
  for (const [i, node] of level.entries()) {
    const own = { path: `${path}${node.name}`, rule: `${rule}[${i}]` }
    yield [own.path, { node, rule: own.rule }]
    yield* below(node.children, `${own.path}/`, `${own.rule}.children`)
  }
}
