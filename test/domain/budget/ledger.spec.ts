import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BudgetLedger, cellNode } from '../../../domain/budget/ledger.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { defaultBudget, type BudgetNodePolicy, type BudgetPolicy } from '../../../domain/policy/budget-policy.ts'
import { LedgerBooks, type ClaimKind } from './budget-books.ts'
import { history, Teller } from './budget-history.ts'

const hourMs = 3_600_000

const node = (name: string, share: number, children: ReadonlyArray<BudgetNodePolicy> = []): BudgetNodePolicy => ({
  name,
  share,
  owner: null,
  reviewDate: null,
  capMilli: null,
  children,
  persons: {},
})
const policyOf = (...tree: ReadonlyArray<BudgetNodePolicy>): BudgetPolicy => ({ ...defaultBudget, tree })
const ledgerOf = (...tree: ReadonlyArray<BudgetNodePolicy>) => {
  const ledger = new BudgetLedger(policyOf(...tree), 'v1', 0 as EpochMs)
  ledger.setCapacity(20_000, 0 as EpochMs)
  return ledger
}

/** Both have gone the same way and will go the same way. */
const expectSame = (a: LedgerBooks, b: LedgerBooks) => {
  expect(JSON.stringify(a.ledger)).toBe(JSON.stringify(b.ledger))
  expect(a.rows).toEqual(b.rows)
  expect(a.closedPersons).toEqual(b.closedPersons)
}

it('should come to the same in many small steps, and however often it is read, as in one', () => {
  fc.assert(
    fc.property(
      history(25),
      fc.array(fc.integer({ min: 300_000, max: hourMs }), { minLength: 1, maxLength: 5 }),
      (past, stepsMs) => {
        const [once, often] = [new LedgerBooks(past.policy, 'v1', past.at), new LedgerBooks(past.policy, 'v1', past.at)]
        const [teller, stroller] = [new Teller(past, [once]), new Teller(past, [often])]
        past.steps.forEach((step, i) => {
          teller.tell(step)
          const end = stroller.at + step.gapMs
          for (let at = stroller.at, j = i; at < end; at += stepsMs[j++ % stepsMs.length]!) {
            often.advance(at)
            for (const path of often.paths()) often.read(path)
          }
          stroller.tell(step)
        })
        expectSame(once, often)
      },
    ),
    { numRuns: 200 },
  )
})

it('should go on from a snapshot as it would have gone on without', () => {
  fc.assert(
    fc.property(history(30), fc.integer({ min: 1, max: 7 }), (past, every) => {
      const [kept, loaded] = [new LedgerBooks(past.policy, 'v1', past.at), new LedgerBooks(past.policy, 'v1', past.at)]
      const tellers = [new Teller(past, [kept]), new Teller(past, [loaded])]
      past.steps.forEach((step, i) => {
        for (const teller of tellers) teller.tell(step)
        if (i % every === 0) loaded.reload()
      })
      expectSame(kept, loaded)
    }),
    { numRuns: 200 },
  )
})

it('should not mind in which order things begin at the same instant', () => {
  const claim = fc.record({
    kind: fc.constantFrom<ClaimKind>('hold', 'wait', 'idle'),
    leaf: fc.nat(20),
    rate: fc.nat(20_000),
    order: fc.nat(1_000_000),
  })
  const claims = fc.array(claim, { maxLength: 12 })
  fc.assert(
    fc.property(history(10), claims, fc.nat(3 * hourMs), fc.nat(50_000), (past, claims, laterMs, capacity) => {
      const shuffled = [...claims].sort((a, b) => a.order - b.order)
      const [one, other] = [claims, shuffled].map((claims, i) => {
        const books = new LedgerBooks(past.policy, 'v1', past.at)
        const teller = new Teller(past, [books])
        for (const step of past.steps) teller.tell(step)
        const paths = books.paths()
        if (i === 0) books.setCapacity(capacity, teller.at)
        for (const { kind, leaf, rate } of claims) books.begin(kind, paths[leaf % paths.length]!, rate, teller.at)
        if (i === 1) books.setCapacity(capacity, teller.at)
        books.advance(teller.at + laterMs)
        return books
      })
      expectSame(one!, other!)
    }),
    { numRuns: 200 },
  )
})

it('should visit as many nodes for what happens to a lease as there are levels, whatever has happened', () => {
  const leaf = (name: string) => node(name, 1)
  const names = Array.from({ length: 100 }, (_, i) => `project-${i}`)
  const ledger = ledgerOf(...['a', 'b', 'c'].map((program) => node(program, 1, names.map(leaf))))
  const person = (at: number, i: number) =>
    ledger.openPerson(ledger.node(`${'abc'[i % 3]!}/project-${i % 100}`)!, `u-${i % 500}`, at as EpochMs)
  for (let i = 0; i < 3000; i++) {
    const at = i * 1000
    const held = person(at, i)
    const before = ledger.visits
    const verb = (['hold', 'wait', 'idle'] as const)[i % 3]!
    ledger[verb](held, 100, at as EpochMs)
    expect(ledger.visits - before).toBe(4)
  }
  expect(ledger.nodes().length).toBeGreaterThan(800)
})

it('should take along the ledger of a node that is moved, with all below it', () => {
  const ledger = ledgerOf(node('a', 1, [node('x', 1), node('y', 1)]), node('b', 1))
  const person = ledger.openPerson(ledger.node('a/x')!, 'u-1', 0 as EpochMs)
  ledger.hold(person, 3000, 0 as EpochMs)
  const at = (90 * 60_000) as EpochMs
  const changes = ledger.setTree(
    policyOf(node('b', 1, [node('z', 2)]), node('c', 3)),
    'v2',
    at,
    new Map([['b/z', 'a/x']]),
  )
  expect(changes.map(({ kind, path }) => [kind, path])).toEqual([
    ['share', 'b'],
    ['moved', 'b/z'],
    ['share', 'b/z'],
    ['moved', 'b/z/u-1'],
    ['opened', 'c'],
    ['removed', 'a'],
    ['removed', 'a/y'],
  ])
  expect(ledger.path(person)).toBe('b/z/u-1')
  expect(ledger.read(person)).toMatchObject({ entitled: 5000, held: 3000, charged: BigInt(3000 * at) })
  expect(ledger.read(ledger.node('b')!)).toMatchObject({ held: 3000, charged: 0n })
  expect(ledger.read(ledger.node('b/z')!)).toMatchObject({ held: 3000, charged: BigInt(3000 * at) })
})

it('should say what lapses with a node that is removed, and count what it held nowhere', () => {
  const ledger = ledgerOf(node('a', 1), node('b', 1))
  ledger.wait(ledger.node('a')!, 4000, 0 as EpochMs)
  ledger.hold(ledger.node('a')!, 1000, 0 as EpochMs)
  const changes = ledger.setTree(policyOf(node('b', 1)), 'v2', hourMs as EpochMs)
  expect(changes).toEqual([
    { kind: 'share', path: 'b', share: { from: 1, to: 1 }, entitled: { from: 10_000, to: 20_000 } },
    {
      kind: 'removed',
      path: 'a',
      node: 1,
      at: hourMs,
      owed: BigInt(5000 * hourMs),
      charged: BigInt(1000 * hourMs),
      debt: BigInt(4000 * hourMs),
      credit: BigInt(5000 * hourMs),
      held: 1000,
      waiting: 4000,
    },
  ])
  expect(ledger.held(cellNode)).toBe(0)
  expect(ledger.read(cellNode).heldIntegral).toBe(BigInt(1000 * hourMs))
})

it('should put nobody behind while the cell has less than what all hold', () => {
  const ledger = ledgerOf(node('a', 1), node('b', 1))
  const [a, b] = [ledger.node('a')!, ledger.node('b')!]
  ledger.hold(a, 15_000, 0 as EpochMs)
  ledger.wait(b, 5000, 0 as EpochMs)
  expect([ledger.isBehind(b), ledger.hasBehind(cellNode), ledger.isOver(a)]).toEqual([true, true, true])
  ledger.setCapacity(14_999, 1000 as EpochMs)
  expect([ledger.isBehind(b), ledger.hasBehind(cellNode), ledger.isOver(a)]).toEqual([false, false, false])
  ledger.setCapacity(15_000, 3000 as EpochMs)
  ledger.advance(4000 as EpochMs)
  expect(ledger.read(a)).toMatchObject({ over: BigInt(5000 * 1000 + 7500 * 1000), isOver: true })
  expect(ledger.debtAtLeast(b, 1000 as DurationMs)).toBe(true)
})

it('should tell one bucket of each policy in an hour, and have no two rows for one of them', () => {
  const books = new LedgerBooks(policyOf(node('a', 1)), 'v1', 0)
  books.setCapacity(1000, 0)
  books.begin('hold', 'a', 1000, 0)
  books.setTree(policyOf(node('a', 1)), 'v2', 1000, new Map())
  books.setTree(policyOf(node('a', 1)), 'v1', 3000, new Map())
  books.advance(hourMs)
  expect(books.rows.map(({ node, hour, version, held }) => [node, hour, version, held])).toEqual([
    ['', 0, 'v1', BigInt(1000 * (hourMs - 2000))],
    ['a', 0, 'v1', BigInt(1000 * (hourMs - 2000))],
    ['', 0, 'v2', 2_000_000n],
    ['a', 0, 'v2', 2_000_000n],
  ])
})

it('should refuse to go back in time, and to end what did not begin', () => {
  const ledger = ledgerOf(node('a', 1), node('b', 1))
  const [a, b] = [ledger.node('a')!, ledger.node('b')!]
  ledger.hold(a, 1000, 1000 as EpochMs)
  expect(() => {
    ledger.advance(999 as EpochMs)
  }).toThrow('time does not go back')
  expect(() => {
    ledger.release(b, 1000, 1000 as EpochMs)
  }).toThrow('began there')
  expect(() => ledger.openPerson(cellNode, 'u-1', 1000 as EpochMs)).toThrow('below leaves')
})

it('should not take a node that moved away for the sibling whose name it has now', () => {
  const ledger = ledgerOf(node('a', 1, [node('x', 1), node('y', 1)]), node('b', 1))
  const x = ledger.node('a/x')!
  ledger.hold(x, 1000, 0 as EpochMs)
  const moved = policyOf(node('0', 1, [node('x', 1)]), node('a', 1, [node('x', 1)]), node('b', 1))
  ledger.setTree(moved, 'v2', 1000 as EpochMs, new Map([['0/x', 'a/y']]))
  expect(ledger.node('a/x')).toBe(x)
  expect(ledger.read(x)).toMatchObject({ held: 1000, charged: 1_000_000n })
})

it('should tell ratios apart that differ by less than a number can say', () => {
  const ledger = ledgerOf(node('a', 1), node('b', 1))
  const [a, b] = [ledger.node('a')!, ledger.node('b')!]
  const hundredHours = 100 * hourMs
  ledger.setCapacity(400_000_000, 0 as EpochMs)
  for (const each of [a, b]) {
    ledger.hold(each, 100_000_000, 0 as EpochMs)
    ledger.wait(each, 300_000_000, 0 as EpochMs)
  }
  ledger.advance(hundredHours as EpochMs)
  expect(ledger.compareServed(a, b)).toBe(0)
  ledger.hold(a, 1, hundredHours as EpochMs)
  ledger.release(a, 1, (hundredHours + 1) as EpochMs)
  const [ours, theirs] = [ledger.read(a), ledger.read(b)]
  expect([ours.charged - theirs.charged, Number(ours.charged) - Number(theirs.charged)]).toEqual([1n, 0])
  expect(ledger.compareServed(a, b)).toBeGreaterThan(0)
  expect(ledger.compareServed(b, a)).toBeLessThan(0)
})
