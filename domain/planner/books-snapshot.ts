import type { BudgetChange, Lapse } from '../budget/budget-change.ts'
import type { LedgerSnapshot } from '../budget/ledger-snapshot.ts'
import type { OrderSnapshot } from './serving-order.ts'

/** What no event has told yet. */
export type Untold = BudgetChange | Lapse

export interface BooksSnapshot {
  readonly ledger: LedgerSnapshot
  readonly order: OrderSnapshot
  readonly untold: ReadonlyArray<object>
}

export const watchOf = (untold: Untold[]) => ({
  onPersonClosed: (lapse: Lapse): void => {
    untold.push(lapse)
  },
})

const amounts = ['owed', 'charged', 'debt', 'credit'] as const

/** JSON has no integers as large as these. */
export const toUntold = (told: Untold): object =>
  'owed' in told ? { ...told, ...Object.fromEntries(amounts.map((key) => [key, String(told[key])])) } : told
export const fromUntold = (told: object): Untold =>
  'owed' in told
    ? ({
        ...told,
        ...Object.fromEntries(amounts.map((key) => [key, BigInt((told as Record<string, string>)[key]!)])),
      } as Untold)
    : (told as Untold)
