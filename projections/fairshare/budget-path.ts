import type { Cell } from '../../domain/planner/cell.ts'

/** Node of the budget tree at which a workload waits, or holds something; empty: none. */
export const budgetPathOf = ({ books, workloads }: Cell, workload: string): string => {
  const account = workloads.get(workload)?.account ?? null
  return books === null || account === null ? '' : books.ledger.path(account.node)
}
