import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BudgetChange } from '../../../domain/budget/budget-change.ts'
import type { DurationMs } from '../../../domain/kernel/units.ts'
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

/** Rules 1 and 2 of who is next, and debt as a time, of every two nodes. */
const expectSameOrder = (books: LedgerBooks, oracle: BudgetOracle) => {
  const { ledger } = books
  const all = oracle.paths().map((path) => ({ node: ledger.node(path)!, ...oracle.read(path) }))
  for (const a of all) {
    expect(ledger.servedFully(a.node)).toBe(a.entitled === 0 || a.charged >= a.owed)
    const e = BigInt(a.entitled)
    const debtMs = e === 0n ? 0n : a.debt / e
    expect(ledger.debtAtLeast(a.node, Number(debtMs) as DurationMs)).toBe(true)
    if (e > 0n) expect(ledger.debtAtLeast(a.node, (Number(debtMs) + 1) as DurationMs)).toBe(false)
    for (const b of all) {
      expect(Math.sign(ledger.compareServed(a.node, b.node))).toBe(servedOrder(a, b))
      const byCredit = inPlace(a, b) ?? sign(b.credit * e - a.credit * BigInt(b.entitled))
      expect(Math.sign(ledger.compareCredit(a.node, b.node))).toBe(byCredit)
    }
  }
}

type Read = ReturnType<BudgetOracle['read']>
const sign = (amount: bigint) => (amount < 0n ? -1 : amount > 0n ? 1 : 0)

/** What is entitled to nothing comes last. */
const inPlace = (a: Read, b: Read) =>
  a.entitled > 0 && b.entitled > 0 ? undefined : a.entitled > 0 ? -1 : b.entitled > 0 ? 1 : 0

const servedOrder = (a: Read, b: Read) => {
  const place = inPlace(a, b)
  if (place !== undefined) return place
  if (a.owed === 0n || b.owed === 0n) return a.owed > 0n ? 1 : b.owed > 0n ? -1 : 0
  return sign(a.charged * b.owed - b.charged * a.owed)
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
      expectSameOrder(books, oracle)
    }),
    { numRuns: 1000 },
  )
}, 300_000)
