import type { BudgetPolicy } from '../policy/budget-policy.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { BudgetChange, Lapse } from './budget-change.ts'
import type { BudgetReading } from './budget-reading.ts'

/**
 * Who got how much of a cell over the window, and who is owed how much. Nodes are numbers; 0 is the cell. Rates are
 * milli-units. Every method that takes an instant first brings the ledger there, and `at` never goes back.
 *
 * A number of a program or project is good until `setTree` removes it. That of a person is good while something is held
 * or waits there: ask `openPerson` again each time before the first of it.
 */
export interface BudgetLedger {
  /** To where everything has been counted: what every reading is of. */
  readonly at: EpochMs
  /**
   * Splits the bucket, so that no later policy converts what an earlier one counted.
   * @param renamed new path -> old path, of nodes that keep their ledger; what is below them moves along
   */
  readonly setTree: (
    policy: BudgetPolicy,
    version: string,
    at: EpochMs,
    renamed?: ReadonlyMap<string, string>,
  ) => ReadonlyArray<BudgetChange>
  readonly setCapacity: (milliUnits: number, at: EpochMs) => void
  /** Infinity: without limit. Binds what is below the node too. */
  readonly setAllowance: (node: number, milliUnits: number, at: EpochMs) => void
  /** @returns persons that were closed at the end of an hour, because nothing was in their window, held or waiting */
  readonly advance: (at: EpochMs) => ReadonlyArray<Lapse>

  /** @returns undefined where the policy has no such node */
  readonly node: (path: string) => number | undefined
  readonly path: (node: number) => string
  readonly parent: (node: number) => number
  /** By name. */
  readonly children: (node: number) => ReadonlyArray<number>
  /** The person's node; opens it with the share that the policy lists, or 1. */
  readonly openPerson: (leaf: number, submitter: string, at: EpochMs) => number

  readonly hold: (node: number, rate: number, at: EpochMs) => void
  readonly release: (node: number, rate: number, at: EpochMs) => void
  /** This much of what is held there makes no progress. */
  readonly idle: (node: number, rate: number, at: EpochMs) => void
  readonly active: (node: number, rate: number, at: EpochMs) => void
  readonly wait: (node: number, rate: number, at: EpochMs) => void
  readonly unwait: (node: number, rate: number, at: EpochMs) => void

  readonly entitled: (node: number) => number
  readonly held: (node: number) => number
  readonly owedRate: (node: number) => number
  readonly isBehind: (node: number) => boolean
  /** Some child of it is behind. */
  readonly hasBehind: (parent: number) => boolean
  readonly isOver: (node: number) => boolean
  readonly read: (node: number) => BudgetReading

  /** Rule 1: negative where `a` is next, 0 where the ages decide. */
  readonly compareServed: (a: number, b: number) => number
  /** Rule 2: the highest credit per entitled rate first. */
  readonly compareCredit: (a: number, b: number) => number
  /** Charged at least what it is owed; always so where it is entitled to nothing. */
  readonly servedFully: (node: number) => boolean
  /** Its debt is at least so long a time of its entitled rate. */
  readonly debtAtLeast: (node: number, duration: DurationMs) => boolean
}
