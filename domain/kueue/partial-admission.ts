import type { PodSetRequest } from './head.ts'

type Counts = Pick<PodSetRequest, 'count' | 'minCount'>

/**
 * Shrinks all pod sets together, and as little as is needed.
 * @param attempt what comes of these counts, one per pod set; null: they do not work. What works with more replicas is
 *                taken to work with fewer, so only the logarithm of the slack is tried.
 * @returns       what came of the largest counts that work; null when none do, or when there is nothing to shrink
 */
export const searchCounts = <A>(
  podSets: ReadonlyArray<Counts>,
  attempt: (counts: ReadonlyArray<number>) => A | null,
): A | null => {
  const total = podSets.reduce((sum, { count, minCount }) => sum + count - minCount, 0)
  if (total === 0) return null
  const counts = (step: number): ReadonlyArray<number> =>
    podSets.map(({ count, minCount }) => count - scaledDown(count - minCount, step, total))
  let found: A | null = null
  for (let low = 0, high = total; low <= high;) {
    const middle = low + Math.floor((high - low) / 2)
    const outcome = attempt(counts(middle))
    if (outcome === null) low = middle + 1
    else {
      found = outcome
      high = middle - 1
    }
  }
  return found
}

/** slack x step / total, rounded down; the product may be above what a number holds exactly. */
const scaledDown = (slack: number, step: number, total: number): number => {
  const product = slack * step
  return Number.isSafeInteger(product)
    ? Math.floor(product / total)
    : Number((BigInt(slack) * BigInt(step)) / BigInt(total))
}
