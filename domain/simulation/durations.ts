import { exactSum } from './exact-sum.ts'

/** Seconds. Percentiles interpolate linearly between the two nearest ranks. */
export interface Durations {
  readonly count: number
  /** How many of them are 0. */
  readonly zero: number
  readonly sumS: number
  readonly meanS: number
  readonly p50S: number
  readonly p90S: number
  readonly p99S: number
  readonly maxS: number
}

/** Takes milliseconds. @returns null when there are none */
export const durations = (millis: ReadonlyArray<number>): Durations | null => {
  if (millis.length === 0) return null
  const sorted = Float64Array.from(millis).sort()
  const exact = exactSum()
  let zero = 0
  for (const ms of sorted) {
    exact.add(ms, 1)
    if (ms === 0) zero += 1
  }
  const sum = exact.total()
  return {
    count: sorted.length,
    zero,
    sumS: Number(sum) / 1000,
    meanS: Number(sum) / (1000 * sorted.length),
    p50S: percentileMs(sorted, 50) / 1000,
    p90S: percentileMs(sorted, 90) / 1000,
    p99S: percentileMs(sorted, 99) / 1000,
    maxS: sorted.at(-1)! / 1000,
  }
}

/** At rank (n - 1) x percent / 100 of values sorted from the least. In hundredths, so that the ranks are exact. */
const percentileMs = (sorted: Float64Array, percent: number): number => {
  const hundredths = (sorted.length - 1) * percent
  const rank = Math.floor(hundredths / 100)
  const part = hundredths % 100
  const low = sorted[rank]!
  return part === 0 ? low : low + ((sorted[rank + 1]! - low) * part) / 100
}
