import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  factorOf,
  halving,
  one,
  Powers,
  product,
  shownAmount,
  shownFactor,
} from '../../../domain/fairness/fixed-point.ts'
import { PeriodDecay, slurmPeriodSeconds } from '../../../domain/fairness/period-decay.ts'
import type { DurationMs } from '../../../domain/kernel/units.ts'

const hour = 3_600_000
const apart = (a: bigint, b: bigint): bigint => (a < b ? b - a : a - b)

describe('powers', () => {
  it('should be what multiplying one by one gives, but for rounding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 120 }), (thousandths, times) => {
        const factor = factorOf(BigInt(thousandths), 1000n)
        const powers = new Powers(factor)
        let power = one
        let sum = 0n
        for (let i = 0; i < times; i++) {
          sum += power
          power = product(power, factor)
        }
        expect(apart(powers.of(times), power)).toBeLessThan(300n)
        // The division by what is lost in each period makes an error of 2^-96 a thousand times as large at most.
        expect(apart(powers.sum(times), sum)).toBeLessThan(400_000n)
      }),
    )
  })

  it('should sum to their number where nothing is lost', () => {
    expect(new Powers(one).sum(12_345)).toBe(12_345n * one)
  })
})

describe('halving', () => {
  it('should be exact at whole half-lives', () => {
    expect([0, 1, 2, 40].map((times) => halving(times * 7, 7))).toEqual([one, one / 2n, one / 4n, one >> 40n])
  })

  it('should come to the same in one step as in two', () => {
    const time = fc.integer({ min: 1, max: 2 ** 40 })
    fc.assert(
      fc.property(time, time, time, (a, b, halfLife) => {
        expect(apart(halving(a + b, halfLife), product(halving(a, halfLife), halving(b, halfLife)))).toBeLessThan(400n)
      }),
    )
  })

  it('should be the power of one half, as far as a double goes', () => {
    const time = fc.integer({ min: 1, max: 2 ** 40 })
    fc.assert(
      fc.property(time, time, (elapsed, halfLife) => {
        expect(shownFactor(halving(elapsed, halfLife))).toBeCloseTo(0.5 ** (elapsed / halfLife), 12)
      }),
    )
  })

  it('should give the published part of a sample: 5 minutes of a half-life of 168 h', () => {
    expect(shownFactor(one - halving(300_000, 168 * hour))).toBeCloseTo(0.000343764, 9)
  })
})

describe("the approximation of Slurm's decay", () => {
  it.each([
    ['7 days', 7 * 24 * hour, 0.500073],
    ['1 hour', hour, 0.50004],
    ['60 seconds', 60_000, 0.498061],
  ])('should leave after a half-life of %s what was published', (_, halfLifeMs, published) => {
    const perSecond = new Powers(factorOf(BigInt(halfLifeMs - 693), BigInt(halfLifeMs)))
    expect(Math.abs(shownFactor(perSecond.of(halfLifeMs / 1000)) - published)).toBeLessThan(5e-7)
  })

  it('should leave the same over periods as over seconds', () => {
    const { powers } = PeriodDecay.slurm((7 * 24 * hour) as DurationMs)
    expect(Math.abs(shownFactor(powers.of((7 * 24 * 3600) / slurmPeriodSeconds)) - 0.500073)).toBeLessThan(5e-7)
  })

  it('should charge a run its seconds by what is left over as many', () => {
    const { charges } = PeriodDecay.slurm(hour as DurationMs)
    for (const seconds of [0, 1, 60, 299, 300])
      expect(shownAmount(charges[seconds]!)).toBeCloseTo(seconds * (1 - 0.693 / 3600) ** seconds, 8)
  })

  it('should leave all of it where the half-life is 0, and nothing where it is shorter than what a second takes', () => {
    const still = PeriodDecay.slurm(0 as DurationMs)
    expect([still.powers.of(1000), shownAmount(still.wholeCharge)]).toEqual([one, 300])
    expect(PeriodDecay.slurm(500 as DurationMs).powers.of(1)).toBe(0n)
  })
})
