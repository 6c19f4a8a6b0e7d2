/**
 * Columns of what is summed per bucket, milli-units x ms. The first seven are kept per hour of the window; the others
 * only until the bucket closes. An hour of 230,000 accelerators stays far below 2^53, but demand need not: its rate is
 * summed in two parts.
 */
export const column = {
  owed: 0,
  held: 1,
  charged: 2,
  unallocated: 3,
  over: 4,
  idle: 5,
  /** In the open bucket nothing: it is what closing leaves of `entitled` less `owed`. */
  credit: 6,
  entitled: 7,
  /** Of the rate's part above `demandUnit`, in such units. */
  demandHigh: 8,
  demandLow: 9,
  /** How long it has been open. */
  ms: 10,
} as const

export const windowColumns = 7
export const bucketColumns = 11
const demandUnit = 2 ** 20

/** Rates, all in milli-units, that hold for a while. */
export interface BucketRates {
  readonly entitled: number
  readonly held: number
  readonly idle: number
  readonly demand: number
  readonly owedRate: number
}

/** @param overMs how long of `ms` a sibling was behind */
export const addRates = (bucket: Float64Array, rates: BucketRates, ms: number, overMs: number): void => {
  const { entitled, held, idle, demand, owedRate } = rates
  const excess = Math.max(0, held - entitled)
  const idleExcess = Math.min(excess, idle)
  const freeMs = ms - overMs
  bucket[column.owed]! += owedRate * ms
  bucket[column.held]! += held * ms
  bucket[column.charged]! += (held - excess) * ms + excess * overMs + idleExcess * freeMs
  bucket[column.unallocated]! += excess * freeMs
  bucket[column.over]! += excess * overMs
  bucket[column.idle]! += idleExcess * freeMs
  bucket[column.entitled]! += entitled * ms
  bucket[column.demandHigh]! += Math.floor(demand / demandUnit) * ms
  bucket[column.demandLow]! += (demand % demandUnit) * ms
  bucket[column.ms]! += ms
}

export const demandOf = (bucket: Float64Array): bigint =>
  BigInt(bucket[column.demandHigh]!) * BigInt(demandUnit) + BigInt(bucket[column.demandLow]!)
