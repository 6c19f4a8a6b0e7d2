import fc from 'fast-check'
import { expect, it } from 'vitest'
import { billedMilli } from '../../../domain/fairness/billing.ts'
import { DecayedUsage, type DecayedUsageSnapshot } from '../../../domain/fairness/decayed-usage.ts'
import { shownAmount } from '../../../domain/fairness/fixed-point.ts'
import { PeriodDecay } from '../../../domain/fairness/period-decay.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'

const at = (ms: number) => ms as EpochMs
const minute = 60_000

interface Run {
  readonly leaf: string
  readonly rate: number
  readonly startMs: number
  readonly endMs: number
}

const runs = fc.array(
  fc
    .record({
      leaf: fc.constantFrom('a', 'b', 'c'),
      rate: fc.integer({ min: 1, max: 8000 }),
      startMs: fc.nat(60 * minute),
      lengthMs: fc.nat(60 * minute),
    })
    .map(({ startMs, lengthMs, ...run }): Run => ({ ...run, startMs, endMs: startMs + lengthMs })),
  { maxLength: 12 },
)
const halfLives = fc.constantFrom(0, 60_000, 3_600_000, 604_800_000)

type Step = readonly [atMs: number, step: (usage: DecayedUsage) => void]

const stepsOf = (list: ReadonlyArray<Run>): ReadonlyArray<Step> =>
  list
    .flatMap(({ leaf, rate, startMs, endMs }): ReadonlyArray<Step> => [
      [
        startMs,
        (usage) => {
          usage.started(leaf, rate, at(startMs))
        },
      ],
      [
        endMs,
        (usage) => {
          usage.ended(leaf, rate, at(startMs), at(endMs))
        },
      ],
    ])
    .sort(([a], [b]) => a - b)

/** As it is written down: at each close, what is there decays, then the runs of the period are added. */
const slowly = (list: ReadonlyArray<Run>, leaf: string, halfLifeMs: number, periods: number): number => {
  const left = halfLifeMs === 0 ? 1 : 1 - 693 / halfLifeMs
  let usage = 0
  for (let period = 0; period < periods; period++) {
    usage *= left ** 300
    for (const run of list) {
      const from = Math.max(Math.floor(run.startMs / 1000), period * 300)
      const seconds = Math.min(Math.floor(run.endMs / 1000), (period + 1) * 300) - from
      if (run.leaf === leaf && seconds > 0) usage += seconds * left ** seconds * run.rate
    }
  }
  return usage
}

it('should come to what closing one period after the other comes to', () => {
  fc.assert(
    fc.property(runs, halfLives, fc.nat(30), (list, halfLifeMs, more) => {
      const usage = new DecayedUsage(PeriodDecay.slurm(halfLifeMs as DurationMs))
      for (const [, step] of stepsOf(list)) step(usage)
      const periods = 24 + more
      usage.advance(at(periods * 5 * minute + 1))
      for (const leaf of ['a', 'b', 'c']) {
        const expected = slowly(list, leaf, halfLifeMs, periods)
        expect(Math.abs(shownAmount(usage.of(leaf)) - expected)).toBeLessThanOrEqual(1e-6 + expected * 1e-9)
      }
    }),
  )
})

it('should hold the same however often it is looked at, stored and restored on the way', () => {
  fc.assert(
    fc.property(runs, halfLives, fc.array(fc.nat(120 * minute)), fc.nat(12), (list, halfLifeMs, looks, storeAt) => {
      const decay = PeriodDecay.slurm(halfLifeMs as DurationMs)
      const end = at(121 * minute)
      const undisturbed = new DecayedUsage(decay)
      for (const [, step] of stepsOf(list)) step(undisturbed)
      undisturbed.advance(end)

      let watched = new DecayedUsage(decay)
      const look = (atMs: number): Step => [
        atMs,
        (usage) => {
          usage.advance(at(atMs))
          for (const leaf of ['a', 'b', 'c']) usage.of(leaf)
        },
      ]
      const steps = [...stepsOf(list), ...looks.map(look)].sort(([a], [b]) => a - b)
      steps.forEach(([, step], index) => {
        if (index === storeAt)
          watched = new DecayedUsage(decay, JSON.parse(JSON.stringify(watched.snapshot())) as DecayedUsageSnapshot)
        step(watched)
      })
      watched.advance(end)
      expect(watched.snapshot()).toEqual(undisturbed.snapshot())
    }),
  )
})

it('should know usage as of the last close, and not care what happens until the next', () => {
  const usage = new DecayedUsage(PeriodDecay.slurm(0 as DurationMs))
  usage.started('a', 2, at(0))
  usage.advance(at(5 * minute - 1))
  expect(usage.of('a')).toBe(0n)
  usage.advance(at(5 * minute))
  expect(shownAmount(usage.of('a'))).toBe(600)
  usage.ended('a', 2, at(0), at(6 * minute))
  expect(shownAmount(usage.of('a'))).toBe(600)
  usage.advance(at(10 * minute))
  expect(shownAmount(usage.of('a'))).toBe(720)
})

it('should take a year without events in its stride, and forget what a year wears away', () => {
  const usage = new DecayedUsage(PeriodDecay.slurm(3_600_000 as DurationMs))
  usage.started('a', 1000, at(0))
  const year = 365 * 24 * 60 * minute
  usage.advance(at(year))
  const steady = shownAmount(usage.of('a'))
  const left = 1 - 0.693 / 3600
  expect(steady).toBeCloseTo((1000 * 300 * left ** 300) / (1 - left ** 300), 2)
  usage.ended('a', 1000, at(0), at(year))
  usage.advance(at(2 * year))
  expect(usage.of('a')).toBe(0n)
})

it('should keep what has decayed by then when the decay changes, and go on by the new one', () => {
  const hour = PeriodDecay.slurm(3_600_000 as DurationMs)
  const week = PeriodDecay.slurm(604_800_000 as DurationMs)
  const usage = new DecayedUsage(hour)
  usage.add('idle', 1_000_000n)
  usage.started('long', 8, at(59 * minute))
  usage.started('brief', 8, at(60 * minute))
  const soon = at(60 * minute + 1000)
  usage.advance(soon)
  const before = usage.of('idle')
  usage.changeDecay(week)
  expect(usage.of('idle')).toBe(before)
  usage.ended('brief', 8, at(60 * minute), soon)
  usage.advance(at(65 * minute))
  const left = (1 - 0.693 / 604_800) ** 300
  expect(shownAmount(usage.of('idle'))).toBeCloseTo(shownAmount(before) * left, 4)
  expect(usage.of('brief')).toBe(0n)
  const long = shownAmount(usage.of('long'))
  usage.advance(at(70 * minute))
  expect(shownAmount(usage.of('long'))).toBeCloseTo((long + 8 * 300) * left, 4)
  expect(() => {
    usage.changeDecay(PeriodDecay.stated(60, 0n))
  }).toThrow('keep their length')
})

it('should refuse time that goes back, and an end of what never began', () => {
  const usage = new DecayedUsage(PeriodDecay.slurm(0 as DurationMs))
  usage.advance(at(10_000))
  expect(() => {
    usage.advance(at(9_000))
  }).toThrow('in their order')
  expect(() => {
    usage.ended('a', 1, at(10_000), at(10_000))
  }).toThrow('what ends has run')
})

it('should bill amounts by their weights', () => {
  expect(billedMilli([1, 8, 2], [1000, 500, 5000])).toBe(15_000)
  expect(billedMilli([], [])).toBe(0)
  expect(() => billedMilli([1], [1, 2])).toThrow('one entry per resource')
})
