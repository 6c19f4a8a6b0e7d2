/** A sum of products of whole numbers that may leave the range where `number` is exact. */
export interface ExactSum {
  readonly add: (a: number, b: number) => void
  readonly total: () => bigint
}

export const exactSum = (): ExactSum => {
  let whole = 0n
  // Gathered here as long as it stays exact: much faster than one bigint per product.
  let small = 0
  return {
    add: (a, b) => {
      const next = small + a * b
      if (next <= Number.MAX_SAFE_INTEGER) {
        small = next
        return
      }
      whole += BigInt(small) + BigInt(a) * BigInt(b)
      small = 0
    },
    total: () => whole + BigInt(small),
  }
}
