/** Linear interpolation at rank (n - 1)p. */
export const percentile = (values: ReadonlyArray<number>, p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = (sorted.length - 1) * p
  const low = sorted[Math.floor(rank)] ?? 0
  const high = sorted[Math.ceil(rank)] ?? low
  return low + (high - low) * (rank - Math.floor(rank))
}

export const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
export const mean = (values: ReadonlyArray<number>): number => (values.length === 0 ? 0 : sum(values) / values.length)
