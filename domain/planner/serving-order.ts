import type { BudgetLedger } from '../budget/ledger.ts'

/** How siblings of the budget tree compare: negative where `a` is next, 0 where the ages decide. */
export interface ServingOrder {
  readonly compare: (a: number, b: number) => number
  /** Whether all of these have had what they are owed and nobody else lacks anything: what is left belongs to nobody. */
  readonly isUnallocated: (parent: number, candidates: ReadonlySet<number>) => boolean
}

/** The default: whoever was served least of what it is owed over the window. */
export const budgetOrder = (ledger: BudgetLedger): ServingOrder => ({
  compare: (a, b) => ledger.compareServed(a, b),
  isUnallocated: (parent, candidates) => {
    for (const child of candidates) if (!ledger.servedFully(child)) return false
    return !ledger.hasBehind(parent)
  },
})
