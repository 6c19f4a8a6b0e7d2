import { assert } from '../kernel/decider.ts'

/**
 * Factors from 0 to 1 as whole numbers of 2^-96: what decays over time is decided by integers alone, so that every
 * machine decides alike. A product is rounded to the nearest.
 */
const factorBits = 96n
export const one = 1n << factorBits
const half = one >> 1n

/** The nearest factor to a ratio of whole numbers, at most 1. */
export const factorOf = (over: bigint, under: bigint): bigint => (over * one + under / 2n) / under

export const product = (a: bigint, b: bigint): bigint => (a * b + half) >> factorBits

/** Amounts over time are whole numbers of 2^-32 of their unit. */
export const amountBits = 32n

/** The amount that is left of a whole one. */
export const amountOf = (whole: bigint, factor: bigint): bigint => (whole * factor) >> (factorBits - amountBits)

/** A sum of amounts by factors, rounded down: what decays is never taken for more than it is. */
export const amountIn = (sumOfProducts: bigint): bigint => sumOfProducts >> factorBits

/** For display only. */
export const shownFactor = (factor: bigint): number => Number(factor) / 2 ** Number(factorBits)
export const shownAmount = (amount: bigint): number => Number(amount) / 2 ** Number(amountBits)

const knownMax = 4096

/** The powers of one factor, by repeated squaring. */
export class Powers {
  /** The factor to the power of 1, 2, 4, 8 ... */
  private readonly squares: bigint[]
  /** Those that were asked for lately. */
  private readonly known = new Map<number, bigint>()

  constructor(factor: bigint) {
    assert(factor >= 0n && factor <= one, 'a factor is from 0 to 1')
    this.squares = [factor]
  }

  get base(): bigint {
    return this.squares[0]!
  }

  /** @param times a natural number */
  of(times: number): bigint {
    const { known, squares } = this
    let power = known.get(times)
    if (power !== undefined) return power
    power = one
    for (let rest = times, at = 0; rest > 0; rest = Math.floor(rest / 2), at++) {
      if (at === squares.length) squares.push(product(squares[at - 1]!, squares[at - 1]!))
      if (rest % 2 === 1) power = product(power, squares[at]!)
    }
    if (known.size >= knownMax) known.clear()
    known.set(times, power)
    return power
  }

  /** The sum of the powers of 0 up to and without `times`, as a number of 2^-96: what that many periods leave. */
  sum(times: number): bigint {
    const lost = one - this.base
    return lost === 0n ? BigInt(times) * one : ((one - this.of(times)) * one) / lost
  }
}

/** 2^-1/2, 2^-1/4, 2^-1/8 ...: filled on first use. */
const roots: bigint[] = []

/** What is left after `elapsed` of what halves in each `halfLife`: one half to the power of their ratio; both above 0. */
export const halving = (elapsed: number, halfLife: number): bigint => {
  if (roots.length === 0) for (let bit = 0n, at = half; bit < factorBits; bit++) roots.push((at = rootOf(at)))
  let left = one >> BigInt(Math.floor(elapsed / halfLife))
  // Digit by digit of the rest of the exponent in base 2; the doubling is exact, as both are below 2^52.
  let rest = elapsed % halfLife
  for (const root of roots) {
    if (rest === 0) break
    rest *= 2
    if (rest < halfLife) continue
    rest -= halfLife
    left = product(left, root)
  }
  return left
}

/** The square root of a factor, rounded down. */
const rootOf = (factor: bigint): bigint => {
  const square = factor << factorBits
  let guess = one
  for (;;) {
    const next = (guess + square / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}
