import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  compareFractions,
  dividedBy,
  endless,
  fraction,
  leastOf,
  minus,
  nothing,
  plus,
  times,
} from '../../../domain/fairness/fraction.ts'

const natural = fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 1n << 200n }))
const above0 = natural.map((n) => n + 1n)
const some = fc.tuple(natural, above0).map(([over, under]) => fraction(over, under))

it('should compare as the products of both with both denominators do', () => {
  fc.assert(
    fc.property(some, some, (a, b) => {
      const [left, right] = [a.over * b.under, b.over * a.under]
      expect(Math.sign(compareFractions(a, b))).toBe(left < right ? -1 : left > right ? 1 : 0)
      expect(compareFractions(leastOf(a, b), a)).toBeLessThanOrEqual(0)
      expect(compareFractions(leastOf(a, b), b)).toBeLessThanOrEqual(0)
    }),
  )
})

it('should tell apart what no double tells apart', () => {
  const third = fraction(10n ** 30n, 3n * 10n ** 30n)
  const more = fraction(10n ** 30n + 1n, 3n * 10n ** 30n)
  expect(third.near).toBe(more.near)
  expect(compareFractions(third, more)).toBeLessThan(0)
  expect(compareFractions(more, third)).toBeGreaterThan(0)
  expect(compareFractions(third, fraction(7n, 21n))).toBe(0)
})

it('should put what is endless above all else, and two of it level', () => {
  fc.assert(
    fc.property(some, above0, (a, over) => {
      expect(compareFractions(endless, a)).toBeGreaterThan(0)
      expect(compareFractions(a, endless)).toBeLessThan(0)
      expect(compareFractions(endless, fraction(over, 0n))).toBe(0)
    }),
  )
})

it('should add, take away, multiply and divide back to where it began', () => {
  fc.assert(
    fc.property(some, some, (a, b) => {
      expect(compareFractions(minus(plus(a, b), b), a)).toBe(0)
      expect(compareFractions(plus(a, b), plus(b, a))).toBe(0)
      if (b.over > 0n) expect(compareFractions(dividedBy(times(a, b), b), a)).toBe(0)
    }),
  )
  expect(plus(fraction(1n, 6n), fraction(1n, 3n))).toEqual(fraction(1n, 2n))
  expect(times(nothing, fraction(5n, 3n))).toEqual(nothing)
})
