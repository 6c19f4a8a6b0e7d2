import type { EpochMs } from '../kernel/units.ts'

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
  /** Of the whole cell. */
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
