/** A natural number over another; over 0 it is beyond every number. Compared exactly, whatever the size. */
export interface Fraction {
  readonly over: bigint
  readonly under: bigint
  /** The nearest double, or one beside it: for display, and to tell apart at once what is far apart. */
  readonly near: number
}

/** @param over above 0 where `under` is 0 */
export const fraction = (over: bigint, under: bigint): Fraction => ({
  over,
  under,
  near: Number(over) / Number(under),
})

export const nothing: Fraction = fraction(0n, 1n)
export const endless: Fraction = fraction(1n, 0n)

/** `near` is off by three roundings at most, 2^-51 of it: beyond this it decides. */
const apartFrom = 2 ** -49

/** Below 0: a is the smaller; two endless ones are equal. */
export const compareFractions = (a: Fraction, b: Fraction): number => {
  const apart = a.near - b.near
  // Not so for NaN (both endless) and never where one is endless: the products below settle these.
  if (Math.abs(apart) > apartFrom * Math.max(a.near, b.near)) return apart
  const left = a.over * b.under
  const right = b.over * a.under
  return left < right ? -1 : left > right ? 1 : 0
}

export const leastOf = (a: Fraction, b: Fraction): Fraction => (compareFractions(b, a) < 0 ? b : a)

export const plus = (a: Fraction, b: Fraction): Fraction =>
  inLowestTerms(a.over * b.under + b.over * a.under, a.under * b.under)

/** @param b at most a */
export const minus = (a: Fraction, b: Fraction): Fraction =>
  inLowestTerms(a.over * b.under - b.over * a.under, a.under * b.under)

export const times = (a: Fraction, b: Fraction): Fraction => inLowestTerms(a.over * b.over, a.under * b.under)

/** @param b above 0 */
export const dividedBy = (a: Fraction, b: Fraction): Fraction => inLowestTerms(a.over * b.under, a.under * b.over)

const inLowestTerms = (over: bigint, under: bigint): Fraction => {
  let [a, b] = [over, under]
  while (b > 0n) [a, b] = [b, a % b]
  return fraction(over / a, under / a)
}
