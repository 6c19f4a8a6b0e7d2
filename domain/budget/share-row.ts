import type { EpochMs } from '../kernel/units.ts'
import { column, demandOf } from './bucket.ts'

/**
 * What one bucket came to: a row of the view `share_ledger`, key (node, hour, version). Every amount is milli-units x ms
 * within the bucket, except debt and credit: those are of the window that ends with the bucket.
 */
export interface ShareRow {
  /** Path of the node; empty: the cell. */
  readonly node: string
  /** Start of the hour, UTC. */
  readonly hour: EpochMs
  /** Of the policy, with its table of units. */
  readonly version: string
  /** Of the whole cell, while the bucket was open. */
  readonly capacity: bigint
  readonly entitled: bigint
  readonly demand: bigint
  readonly owed: bigint
  readonly held: bigint
  readonly charged: bigint
  readonly unallocated: bigint
  readonly over: bigint
  readonly idleCharged: bigint
  readonly debt: bigint
  readonly credit: bigint
}

const sums = [
  'capacity',
  'entitled',
  'demand',
  'owed',
  'held',
  'charged',
  'unallocated',
  'over',
  'idleCharged',
] as const

export const rowOf = (
  bucket: Float64Array,
  { node, hour, version, capacity, debt, credit }: Omit<ShareRow, Exclude<(typeof sums)[number], 'capacity'>>,
): ShareRow => ({
  node,
  hour,
  version,
  capacity,
  entitled: BigInt(bucket[column.entitled]!),
  demand: demandOf(bucket),
  owed: BigInt(bucket[column.owed]!),
  held: BigInt(bucket[column.held]!),
  charged: BigInt(bucket[column.charged]!),
  unallocated: BigInt(bucket[column.unallocated]!),
  over: BigInt(bucket[column.over]!),
  idleCharged: BigInt(bucket[column.idle]!),
  debt,
  credit,
})

/** Two rows of one key; debt and credit are those of the later one. */
export const addedUp = (later: ShareRow, earlier: ShareRow): ShareRow => {
  const sum = { ...later }
  for (const of of sums) sum[of] += earlier[of]
  return sum
}

/** Rows of the open hour whose bucket is closed already, one for each node and version. */
export class ShareRows {
  private readonly rows = new Map<string, ShareRow>()

  /** A version that was active before in the same hour has its bucket opened again: a row has a key of its own. */
  add(row: ShareRow): void {
    const key = JSON.stringify([row.node, row.version])
    const earlier = this.rows.get(key)
    this.rows.set(key, earlier === undefined ? row : addedUp(row, earlier))
  }

  /** All of them, in the order in which they were first added; none is kept. */
  take(): ReadonlyArray<ShareRow> {
    const rows = [...this.rows.values()]
    this.rows.clear()
    return rows
  }

  list(): ReadonlyArray<ShareRow> {
    return [...this.rows.values()]
  }
}
