import type { taskEither as TE } from 'fp-ts'
import type { DurationMs } from '../kernel/units.ts'
import type { BusUnavailable } from './bus-unavailable.ts'

/** Who decides for a cell. Whoever holds one renews it before `ttlMs` have passed since it was last given. */
export interface Lease {
  readonly cell: string
  readonly holder: string
  readonly ttlMs: DurationMs
  /** Of this acquisition: who acquires anew, even under the same name, is another. */
  readonly token: string
  /** Grows with every acquisition and renewal of a cell's lease, whoever's: of two holders the one with the higher is right. */
  readonly fence: number
}

export type LeaseRefused =
  /** Another has it, and has not been silent for as long as it may be. */
  | { readonly type: 'LeaseHeld'; readonly by: Lease }
  /** It was this holder's, and somebody else has it or had it since: whatever is decided under it has to stop. */
  | { readonly type: 'LeaseLost'; readonly by: Lease | null }
  | BusUnavailable

/**
 * Assigns cells to deciders. It keeps two of them from working against each other for long; that they never both write is
 * the log's own doing, by the revision that every append expects.
 *
 * Silence is measured by whoever wants the lease: for `ttlMs` on its own clock, one that nobody sets, nothing of the lease has
 * changed. So no two clocks are compared, and a clock that is set forward takes nobody's lease away.
 */
export interface CellLease {
  /** Also what the same holder has, as after a restart. Asked often enough, it gets what falls silent. */
  readonly acquire: (cell: string, holder: string, ttlMs: DurationMs) => TE.TaskEither<LeaseRefused, Lease>
  /** The lease with a new fence; that of the one before is void. */
  readonly renew: (lease: Lease) => TE.TaskEither<LeaseRefused, Lease>
  /** Others need not wait for silence. Where it was lost, nothing is done. */
  readonly release: (lease: Lease) => TE.TaskEither<BusUnavailable, void>
  /** As it was last given or renewed; null: nobody has it. */
  readonly current: (cell: string) => TE.TaskEither<BusUnavailable, Lease | null>
}
