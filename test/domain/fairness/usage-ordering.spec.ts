import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bySeniority } from '../../../domain/fairness/candidate.ts'
import { shownAmount, shownFactor } from '../../../domain/fairness/fixed-point.ts'
import {
  UsageOrdering,
  type SubQueueCandidate,
  type UsageOrderingSettings,
  type UsageOrderingSnapshot,
} from '../../../domain/fairness/usage-ordering.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'

const minute = 60_000
const week = 604_800_000
const at = (ms: number) => ms as EpochMs
const settings = (halfLifeMs: number): UsageOrderingSettings => ({
  halfLifeMs: halfLifeMs as DurationMs,
  samplingMs: (5 * minute) as DurationMs,
  resourceWeightsMilli: [1000, 500],
})
const subQueues = [
  { name: 'a', weightMilli: 1000 },
  { name: 'b', weightMilli: 2000 },
  { name: 'none', weightMilli: 0 },
]
const orderingOf = (halfLifeMs: number, from?: UsageOrderingSnapshot) =>
  new UsageOrdering(settings(halfLifeMs), subQueues, from)
const shown = (ordering: UsageOrdering, name: string) => ordering.usageOf(name).map(shownAmount)

it('should move usage by alpha towards what is held, at each sample', () => {
  const ordering = orderingOf(week)
  expect(shownFactor(ordering.alpha)).toBeCloseTo(0.000343764, 9)
  ordering.addUsage('a', [10_000, 0])
  ordering.started('a', 'w', [0, 4_000], at(0))
  const alpha = 1 - 0.5 ** (1 / 2016)
  expect(shown(ordering, 'a')[1]).toBeCloseTo(alpha * 4_000, 6)
  ordering.advance(at(5 * minute))
  const [first, second] = shown(ordering, 'a')
  expect(first).toBeCloseTo((1 - alpha) * 10_000, 6)
  expect(second).toBeCloseTo((1 - alpha) * alpha * 4_000 + alpha * 4_000, 6)
  ordering.advance(at(week))
  expect(shown(ordering, 'a')[0]).toBeCloseTo(5_000, 6)
})

it('should freeze history where the half-life is 0', () => {
  const ordering = orderingOf(0)
  ordering.addUsage('a', [10_000, 0])
  ordering.started('a', 'w', [500, 0], at(0))
  ordering.advance(at(week))
  expect([ordering.alpha, shown(ordering, 'a')]).toEqual([0n, [10_000, 0]])
})

it('should count an admission at once, and no longer once it is withdrawn', () => {
  const ordering = orderingOf(week)
  const before = ordering.snapshot()
  ordering.admitted('b', 'w', [2_000, 4_000])
  const alpha = 1 - 0.5 ** (1 / 2016)
  expect(ordering.weightedUsageOf('b').near).toBeCloseTo((alpha * (2_000 * 1000 + 4_000 * 500)) / 2000, 6)
  const admitted = ordering.weightedUsageOf('b').near
  ordering.withdrawn('b', 'w')
  ordering.withdrawn('b', 'w')
  expect(ordering.weightedUsageOf('b').near).toBe(0)
  expect(ordering.snapshot()).toEqual(before)
  ordering.admitted('b', 'w', [2_000, 4_000])
  ordering.started('b', 'w', [2_000, 4_000], at(0))
  expect(ordering.weightedUsageOf('b').near).toBe(admitted)
})

it('should order by usage over weight, no weight last, then by priority, age and id', () => {
  const ordering = orderingOf(week)
  ordering.addUsage('a', [1_000, 0])
  ordering.addUsage('b', [1_900, 0])
  const one = (id: string, subQueue: string, priority: number, createdAt: number): SubQueueCandidate => ({
    id,
    subQueue,
    priority,
    createdAt,
  })
  const candidates = [
    one('none', 'none', 9, -Infinity),
    one('a-high', 'a', 9, 1),
    one('b-late', 'b', 1, 2),
    one('b-soon', 'b', 1, 1),
    one('b-high', 'b', 2, 3),
    one('b-also', 'b', 1, 1),
  ]
  const sorted = (compare: (a: SubQueueCandidate, b: SubQueueCandidate) => number) =>
    candidates.toSorted(compare).map(({ id }) => id)
  expect(sorted(ordering.compare)).toEqual(['b-high', 'b-also', 'b-soon', 'b-late', 'a-high', 'none'])
  expect(sorted(bySeniority)).toEqual(['none', 'a-high', 'b-high', 'b-also', 'b-soon', 'b-late'])
  ordering.addUsage('b', [100, 0])
  expect(sorted(ordering.compare)).toEqual(['a-high', 'b-high', 'b-also', 'b-soon', 'b-late', 'none'])
})

const runs = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b'),
    amounts: fc.tuple(fc.nat(2 ** 40), fc.nat(9)),
    startMs: fc.nat(60 * minute),
    lengthMs: fc.nat(60 * minute),
  }),
  { maxLength: 12 },
)
const halfLives = fc.constantFrom(0, minute, 60 * minute, week)
type Step = readonly [atMs: number, step: (ordering: UsageOrdering) => void]

const stepsOf = (list: typeof runs extends fc.Arbitrary<infer A> ? A : never): ReadonlyArray<Step> =>
  list
    .flatMap(({ name, amounts, startMs, lengthMs }, index): ReadonlyArray<Step> => [
      [
        startMs,
        (ordering) => {
          ordering.started(name, `w${index}`, amounts, at(startMs))
        },
      ],
      [
        startMs + lengthMs,
        (ordering) => {
          ordering.ended(name, amounts, at(startMs + lengthMs))
        },
      ],
    ])
    .sort(([a], [b]) => a - b)

it('should come to what one sample after the other comes to', () => {
  fc.assert(
    fc.property(runs, halfLives, (list, halfLifeMs) => {
      const ordering = orderingOf(halfLifeMs)
      for (const [, step] of stepsOf(list)) step(ordering)
      ordering.advance(at(125 * minute))
      const alpha = halfLifeMs === 0 ? 0 : 1 - 0.5 ** ((5 * minute) / halfLifeMs)
      for (const name of ['a', 'b']) {
        const mine = list.filter((run) => run.name === name)
        const sum = (of: typeof mine) => of.reduce((all, { amounts }) => all + amounts[0], 0)
        let expected = 0
        for (let now = 0; now <= 125 * minute; now += 5 * minute) {
          // What was held when the sample was taken: started before it, and not ended before it.
          const held = mine.filter(({ startMs, lengthMs }) => startMs < now && startMs + lengthMs >= now)
          expected = (1 - alpha) * expected + alpha * sum(held)
          expected += alpha * sum(mine.filter(({ startMs }) => startMs >= now && startMs < now + 5 * minute))
        }
        expect(Math.abs(shown(ordering, name)[0]! - expected)).toBeLessThanOrEqual(1e-6 + expected * 1e-9)
      }
    }),
  )
})

it('should hold the same however often it is looked at, stored and restored on the way', () => {
  fc.assert(
    fc.property(runs, halfLives, fc.array(fc.nat(120 * minute)), fc.nat(12), (list, halfLifeMs, looks, storeAt) => {
      const quiet = orderingOf(halfLifeMs)
      for (const [, step] of stepsOf(list)) step(quiet)
      let watched = orderingOf(halfLifeMs)
      const look = (atMs: number): Step => [
        atMs,
        (ordering) => {
          ordering.advance(at(atMs))
          ordering.admitted('a', 'tried', [7, 7])
          ordering.weightedUsageOf('a')
          ordering.withdrawn('a', 'tried')
        },
      ]
      const steps = [...stepsOf(list), ...looks.map(look)].sort(([a], [b]) => a - b)
      steps.forEach(([, step], index) => {
        if (index === storeAt)
          watched = orderingOf(halfLifeMs, JSON.parse(JSON.stringify(watched.snapshot())) as UsageOrderingSnapshot)
        step(watched)
      })
      for (const ordering of [quiet, watched]) ordering.advance(at(121 * minute))
      expect(watched.snapshot()).toEqual(quiet.snapshot())
      for (const { name } of subQueues) expect(watched.usageOf(name)).toEqual(quiet.usageOf(name))
    }),
  )
})

it('should never take usage for more than the most that was held or had', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), halfLives, fc.array(fc.nat(90 * minute)), (amount, halfLifeMs, gaps) => {
      const ordering = orderingOf(halfLifeMs)
      ordering.addUsage('a', [amount, 0])
      ordering.addUsage('b', [amount, 0])
      let now = 0
      for (const gap of gaps) {
        ordering.advance(at((now += gap)))
        // An event that settles the usage, and so rounds it.
        ordering.addUsage('a', [0, 0])
        expect(shown(ordering, 'a')[0]).toBeLessThanOrEqual(shown(ordering, 'b')[0]!)
        expect(shown(ordering, 'b')[0]).toBeLessThanOrEqual(amount)
      }
    }),
  )
})

it('should keep debits over a restart, and refuse what cannot be', () => {
  const ordering = orderingOf(week)
  ordering.admitted('a', 'w', [1_000, 0])
  const restored = orderingOf(week, JSON.parse(JSON.stringify(ordering.snapshot())) as UsageOrderingSnapshot)
  expect(restored.weightedUsageOf('a')).toEqual(ordering.weightedUsageOf('a'))
  expect(restored.weightedUsageOf('a').near).toBeGreaterThan(0)
  restored.advance(at(10))
  expect(() => {
    restored.advance(at(9))
  }).toThrow('in their order')
  expect(() => {
    restored.ended('a', [1, 0], at(10))
  }).toThrow('natural number')
  restored.remove('b')
  expect(() => restored.usageOf('b')).toThrow('there is a sub-queue b')
})
