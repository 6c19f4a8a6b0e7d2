import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DecayedUsageSnapshot } from '../../../domain/fairness/decayed-usage.ts'
import { FairTreeLedger } from '../../../domain/fairness/fair-tree-ledger.ts'
import type { FairTreeNode } from '../../../domain/fairness/fair-tree.ts'
import { shownAmount } from '../../../domain/fairness/fixed-point.ts'
import { PeriodDecay } from '../../../domain/fairness/period-decay.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'

const nodes: ReadonlyArray<FairTreeNode> = [
  { id: 'all', kind: 'account', parent: null, shares: 1 },
  { id: 'A', kind: 'account', parent: 'all', shares: 40 },
  { id: 'B', kind: 'account', parent: 'all', shares: 60 },
  { id: 'a1', kind: 'user', parent: 'A', shares: 1 },
  { id: 'a2', kind: 'user', parent: 'A', shares: 1 },
  { id: 'b1', kind: 'user', parent: 'B', shares: 1 },
]
const users = ['a1', 'a2', 'b1'] as const
const week = PeriodDecay.slurm(604_800_000 as DurationMs)
const still = PeriodDecay.slurm(0 as DurationMs)
const period = 300_000
const at = (ms: number) => ms as EpochMs

it('should come to the published ranks from what has run', () => {
  const ledger = new FairTreeLedger(nodes, still)
  ledger.started('a1', 1, at(0))
  ledger.started('a2', 3, at(0))
  ledger.started('b1', 4, at(0))
  expect(ledger.ranks.order).toEqual(['a1', 'a2', 'b1'])
  expect(users.map((user) => ledger.factorOf(user))).toEqual([1, 1, 1])
  ledger.advance(at(period))
  expect(['all', 'A', 'a2'].map((id) => shownAmount(ledger.usageOf(id)))).toEqual([2400, 1200, 900])
  expect(ledger.ranks.order).toEqual(['b1', 'a1', 'a2'])
  expect(users.map((user) => ledger.factorOf(user))).toEqual([2 / 3, 1 / 3, 1])
})

it('should keep its ranks until a period closes or the tree changes', () => {
  const ledger = new FairTreeLedger(nodes, week)
  ledger.started('b1', 1, at(0))
  ledger.advance(at(period))
  const { ranks } = ledger
  ledger.started('a1', 9, at(period + 1))
  ledger.ended('b1', 1, at(0), at(2 * period - 1))
  expect(ledger.ranks).toBe(ranks)
  ledger.add({ id: 'b2', kind: 'user', parent: 'B', shares: 1 })
  expect(ledger.ranks.order).toEqual(['a1', 'a2', 'b2', 'b1'])
  ledger.advance(at(2 * period))
  expect(ledger.ranks.order).toEqual(['b2', 'b1', 'a2', 'a1'])
})

it('should forget what somebody used who is no longer in the tree', () => {
  const ledger = new FairTreeLedger(nodes, still)
  ledger.addUsage('a1', 500n)
  ledger.addUsage('a2', 400n)
  expect(shownAmount(ledger.usageOf('A'))).toBe(900)
  ledger.remove('a1')
  expect([ledger.has('a1'), ledger.users, shownAmount(ledger.usageOf('A'))]).toEqual([false, 2, 400])
  const smaller = nodes.filter(({ id }) => id !== 'a2')
  expect(new FairTreeLedger(smaller, still, ledger.snapshot()).snapshot().leaves).toEqual([])
})

it('should rank the same however often it is asked, stored and restored on the way', () => {
  const runs = fc.array(
    fc.record({ user: fc.constantFrom(...users), rate: fc.integer({ min: 1, max: 50 }), gapMs: fc.nat(period) }),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(runs, fc.func(fc.boolean()), (list, asks) => {
      let watched = new FairTreeLedger(nodes, week)
      const quiet = new FairTreeLedger(nodes, week)
      let now = 0
      const running: { user: string; rate: number; since: number }[] = []
      list.forEach(({ user, rate, gapMs }, index) => {
        now += gapMs
        const ending = index % 2 === 1 ? running.shift() : undefined
        for (const ledger of [watched, quiet]) {
          if (ending !== undefined) ledger.ended(ending.user, ending.rate, at(ending.since), at(now))
          ledger.started(user, rate, at(now))
        }
        running.push({ user, rate, since: now })
        if (!asks(index)) return
        expect(watched.ranks.order).toHaveLength(users.length)
        watched = new FairTreeLedger(
          nodes,
          week,
          JSON.parse(JSON.stringify(watched.snapshot())) as DecayedUsageSnapshot,
        )
      })
      expect(watched.snapshot()).toEqual(quiet.snapshot())
      expect(watched.ranks).toEqual(quiet.ranks)
    }),
  )
})
