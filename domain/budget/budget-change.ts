import type { EpochMs } from '../kernel/units.ts'

/** What a new policy did to one node. Amounts are milli-units x ms over the window, rates are milli-units. */
export type BudgetChange =
  | Readonly<{ kind: 'opened'; path: string; share: number; entitled: number }>
  /** `from` is the path by which it was known; its ledger went along. */
  | Readonly<{ kind: 'moved'; path: string; from: string }>
  /** Its share changed, or what its share comes to. */
  | Readonly<{
      kind: 'share'
      path: string
      share: Readonly<{ from: number; to: number }>
      entitled: Readonly<{ from: number; to: number }>
    }>
  | Readonly<{ kind: 'removed' } & Lapse>

/** A node that is no more, and what lapsed with it. */
export interface Lapse {
  readonly path: string
  /** By which it was known until `at`; another node may have it later. */
  readonly node: number
  readonly at: EpochMs
  readonly owed: bigint
  readonly charged: bigint
  readonly debt: bigint
  readonly credit: bigint
  /** Rates of what is held and waits at this very node: it counts nowhere until the caller puts it somewhere else. */
  readonly held: number
  readonly waiting: number
}
