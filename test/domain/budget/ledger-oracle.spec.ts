import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BudgetChange } from '../../../domain/budget/budget-change.ts'
import type { ShareRow } from '../../../domain/budget/share-row.ts'
import { BudgetOracle } from '../../support/naive/budget-oracle.ts'
import { LedgerBooks } from './budget-books.ts'
import { history, Teller } from './budget-history.ts'

const inOrder = (rows: ReadonlyArray<ShareRow | Record<string, unknown>>) =>
  [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
const keyOf = ({ hour, node, version }: ShareRow | Record<string, unknown>) =>
  JSON.stringify([String(hour).padStart(15, '0'), node, version])

/** The oracle knows no numbers. */
const plain = (changes: ReadonlyArray<BudgetChange>) => changes.map((change) => ({ ...change, node: 0 }))

const expectSame = (books: LedgerBooks, oracle: BudgetOracle) => {
  const paths = [...oracle.paths()].sort()
  expect([...books.paths()].sort()).toEqual(paths)
  for (const path of paths) expect(books.read(path)).toEqual(oracle.read(path))
  expect(inOrder(books.rows)).toEqual(inOrder(oracle.closedRows))
  expect([...books.closedPersons].sort()).toEqual([...oracle.closedPersons].sort())
}

it('should say of every history what the specification says, read literally', () => {
  fc.assert(
    fc.property(history(40), (past) => {
      const books = new LedgerBooks(past.policy, 'v1', past.at)
      const oracle = new BudgetOracle(past.policy, 'v1', past.at)
      const teller = new Teller(past, [books, oracle])
      past.steps.forEach((step, i) => {
        const [ours = [], theirs = []] = teller.tell(step)
        expect(plain(ours)).toEqual(plain(theirs))
        if (i % 8 === 7) expectSame(books, oracle)
      })
      expectSame(books, oracle)
    }),
    { numRuns: 1000 },
  )
}, 300_000)
