import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bySeniority, type Candidate } from '../../../domain/fairness/candidate.ts'
import { FairTreeLedger } from '../../../domain/fairness/fair-tree-ledger.ts'
import { PeriodDecay } from '../../../domain/fairness/period-decay.ts'
import { UsageOrdering } from '../../../domain/fairness/usage-ordering.ts'
import { WaitingHeads } from '../../../domain/fairness/waiting-heads.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'

const names = ['a', 'b', 'c', 'd', 'e'] as const
const name = fc.constantFrom(...names)
const waiting = fc.option(fc.record({ priority: fc.nat(2), createdAt: fc.nat(3) }), { freq: 4 })
const headOf = (party: string, head: Omit<Candidate, 'id'> | null): Candidate | null =>
  head === null ? null : { ...head, id: `of-${party}` }

const setIn = (heads: Map<string, Candidate>, party: string, head: Candidate | null): void => {
  if (head === null) heads.delete(party)
  else heads.set(party, head)
}

it('should have those with the better claim first, and of equal claims the senior head', () => {
  const step = fc.record({ name, head: waiting, claim: fc.nat(2), all: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const claims = new Map<string, number>()
      const claimOf = (party: string) => claims.get(party) ?? 0
      const heads = new WaitingHeads((a, b) => claimOf(a) - claimOf(b))
      const known = new Map<string, Candidate>()
      for (const { name, head, claim, all } of steps) {
        if (all) {
          for (const [place, party] of names.entries()) claims.set(party, (place * claim) % 3)
          heads.reordered()
        } else {
          claims.set(name, claim)
          heads.moved(name)
        }
        heads.set(name, headOf(name, head))
        setIn(known, name, headOf(name, head))
        const sorted = [...known].sort(([a, x], [b, y]) => claimOf(a) - claimOf(b) || bySeniority(x, y))
        expect(heads.sorted).toEqual(sorted.map(([party]) => party))
        expect(heads.next).toBe(sorted[0]?.[0] ?? null)
      }
    }),
  )
})

const event = fc.record({
  name,
  what: fc.constantFrom('start', 'end', 'admit', 'withdraw', 'head', 'head', 'wait'),
  head: waiting,
  amount: fc.nat(20),
  gapMs: fc.oneof(fc.constant(0), fc.nat(700_000)),
})
const events = fc.array(event, { maxLength: 40, size: 'max' })
const at = (ms: number) => ms as EpochMs

describe('next', () => {
  it('should be the sub-queue whose head comes first among all heads', () => {
    fc.assert(
      fc.property(events, (list) => {
        const ordering = new UsageOrdering(
          { halfLifeMs: 600_000 as DurationMs, samplingMs: 300_000 as DurationMs, resourceWeightsMilli: [1000] },
          names.map((name, index) => ({ name, weightMilli: index * 500 })),
        )
        const heads = new Map<string, Candidate>()
        const running: (readonly [string, number])[] = []
        let now = 0
        list.forEach(({ name, what, head, amount, gapMs }, index) => {
          ordering.advance(at((now += gapMs)))
          if (what === 'admit') ordering.admitted(name, 'tried', [amount])
          if (what === 'withdraw') ordering.withdrawn(name, 'tried')
          if (what === 'start') {
            ordering.started(name, `w${index}`, [amount], at(now))
            running.push([name, amount])
          }
          const ending = what === 'end' ? running.shift() : undefined
          if (ending !== undefined) ordering.ended(ending[0], [ending[1]], at(now))
          if (what === 'head') {
            ordering.setHead(name, headOf(name, head))
            setIn(heads, name, headOf(name, head))
          }
          const sorted = [...heads]
            .map(([subQueue, waits]) => ({ ...waits, subQueue }))
            .sort(ordering.compare)
            .map(({ subQueue }) => subQueue)
          expect(ordering.inOrder).toEqual(sorted)
          expect(ordering.next).toBe(sorted[0] ?? null)
        })
      }),
    )
  })

  it('should be the user with the highest rank, and of those that tie the one with the senior head', () => {
    fc.assert(
      fc.property(events, (list) => {
        const ledger = new FairTreeLedger(
          [
            { id: 'all', kind: 'account', parent: null, shares: 1 },
            ...names.map((id) => ({ id, kind: 'user', parent: 'all', shares: 1 }) as const),
          ],
          PeriodDecay.slurm(600_000 as DurationMs),
        )
        const heads = new Map<string, Candidate>()
        const running: (readonly [string, number, number])[] = []
        let now = 0
        for (const { name, what, head, amount, gapMs } of list) {
          ledger.advance(at((now += gapMs)))
          if (what === 'start') {
            ledger.started(name, amount, at(now))
            running.push([name, amount, now])
          }
          const ending = what === 'end' ? running.shift() : undefined
          if (ending !== undefined) ledger.ended(ending[0], ending[1], at(ending[2]), at(now))
          if (what === 'head') {
            ledger.setHead(name, headOf(name, head))
            setIn(heads, name, headOf(name, head))
          }
          const { rank } = ledger.ranks
          const sorted = [...heads].sort(([a, x], [b, y]) => rank.get(b)! - rank.get(a)! || bySeniority(x, y))
          expect(ledger.inOrder).toEqual(sorted.map(([user]) => user))
          expect(ledger.next).toBe(sorted[0]?.[0] ?? null)
        }
      }),
    )
  })

  it('should be nobody who has been removed', () => {
    const ledger = new FairTreeLedger(
      [
        { id: 'all', kind: 'account', parent: null, shares: 1 },
        { id: 'a', kind: 'user', parent: 'all', shares: 1 },
      ],
      PeriodDecay.slurm(0 as DurationMs),
    )
    ledger.setHead('a', headOf('a', { priority: 0, createdAt: 0 }))
    expect(ledger.next).toBe('a')
    ledger.remove('a')
    expect(ledger.next).toBeNull()
  })
})
