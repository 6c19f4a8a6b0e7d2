import { assert } from '../kernel/decider.ts'

/**
 * Divides a rate among siblings by their shares, in whole milli-units by largest remainder; the earlier of two with
 * the same remainder comes first. What comes out adds up to `total`, unless all shares are 0: then all get 0.
 * @param shares whole numbers from 0 on, siblings in order of their names
 */
export const entitlements = (total: number, shares: ReadonlyArray<number>): ReadonlyArray<number> => {
  const all = shares.reduce((sum, share) => sum + share, 0)
  assert(Number.isSafeInteger(all), 'shares of siblings add up to a safe integer')
  if (all === 0) return shares.map(() => 0)
  const rates: number[] = []
  const remainders: number[] = []
  for (const share of shares) {
    const [rate, remainder] = divided(total, share, all)
    rates.push(rate)
    remainders.push(remainder)
  }
  const left = total - rates.reduce((sum, rate) => sum + rate, 0)
  const byRemainder = [...remainders.keys()].sort((a, b) => remainders[b]! - remainders[a]! || a - b)
  for (const sibling of byRemainder.slice(0, left)) rates[sibling]!++
  return rates
}

const divided = (total: number, share: number, all: number): readonly [quotient: number, remainder: number] => {
  const product = total * share
  if (product <= Number.MAX_SAFE_INTEGER) return [Math.floor(product / all), product % all]
  const exact = BigInt(total) * BigInt(share)
  return [Number(exact / BigInt(all)), Number(exact % BigInt(all))]
}
