import type { Step } from '../kernel/document.ts'
import type { BudgetNodePolicy, BudgetPolicy } from './budget-policy.ts'
import type { Rough } from './form.ts'

/** A node of the budget tree, where it lies, and who is beside it. */
export interface PlacedBudget<Node> {
  /** `research/ranking`. */
  readonly path: string
  /** From `spec` down. */
  readonly steps: ReadonlyArray<Step>
  /** 1: a program. */
  readonly level: number
  readonly node: Node
  /** Path of what is above it; null: the cell. */
  readonly parent: string | null
}

/** Every node, those above before those below, siblings in their order. */
export function placedBudgets(budgets: BudgetPolicy | undefined): ReadonlyArray<PlacedBudget<BudgetNodePolicy>>
export function placedBudgets(
  budgets: Rough<BudgetPolicy> | undefined,
): ReadonlyArray<PlacedBudget<Rough<BudgetNodePolicy>>>
export function placedBudgets(
  budgets: Rough<BudgetPolicy> | undefined,
): ReadonlyArray<PlacedBudget<Rough<BudgetNodePolicy>>> {
  const placed: PlacedBudget<Rough<BudgetNodePolicy>>[] = []
  const walk = (nodes: ReadonlyArray<Rough<BudgetNodePolicy>>, above: PlacedBudget<unknown> | null): void => {
    nodes.forEach((node, i) => {
      const own = node.name ?? ''
      const here = {
        level: (above?.level ?? 0) + 1,
        node,
        parent: above?.path ?? null,
        path: above === null ? own : `${above.path}/${own}`,
        steps: [...(above === null ? ['budgets', 'tree'] : [...above.steps, 'children']), i],
      }
      placed.push(here)
      walk(node.children ?? [], here)
    })
  }
  walk(budgets?.tree ?? [], null)
  return placed
}
