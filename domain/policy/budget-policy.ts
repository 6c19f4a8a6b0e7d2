import type { DurationMs } from '../kernel/units.ts'

/** A node of the budget tree: a program, a project of it, and so on. Persons below its leaves need not be listed. */
export interface BudgetNodePolicy {
  readonly name: string
  /** Its part of what its siblings and it get; 0: only what nobody is owed. */
  readonly share: number
  readonly owner: string | null
  /** A date, `2026-12-31`. */
  readonly reviewDate: string | null
  /** Most that it may hold, thousandths of devices; null: no cap. */
  readonly capMilli: number | null
  /** Its projects; none: a leaf, below which each person who submits is a node. */
  readonly children: ReadonlyArray<BudgetNodePolicy>
  /** Only at a leaf: shares of persons that differ from 1. */
  readonly persons: { readonly [submitter: string]: number }
}

/** GPU time over a rolling window. */
export interface BudgetPolicy {
  /** Hourly buckets that are closed, beside the open one. */
  readonly windowHours: number
  /** Debt from which it is taken back, as a time of the entitled rate. */
  readonly reclaimAfterMs: DurationMs
  /** What was started by an eviction is left alone for so long. */
  readonly turnMs: DurationMs
  /** Most yield credit, as a time of the entitled rate. */
  readonly creditMaxMs: DurationMs
  /** Work that may not be preempted and would take an idle program beyond its entitlement may run so long. */
  readonly undrilledMaxMs: DurationMs
  /** A lease that reported progress and does so no longer counts as idle after so long. */
  readonly idleAfterMs: DurationMs
  /** Other resources that are charged where their part is larger than that of the devices. */
  readonly charged: ReadonlyArray<'cpu' | 'memory'>
  readonly tree: ReadonlyArray<BudgetNodePolicy>
}

export const defaultBudget: Omit<BudgetPolicy, 'tree'> = {
  charged: [],
  creditMaxMs: 86_400_000 as DurationMs,
  idleAfterMs: 600_000 as DurationMs,
  reclaimAfterMs: 600_000 as DurationMs,
  turnMs: 1_800_000 as DurationMs,
  undrilledMaxMs: 86_400_000 as DurationMs,
  windowHours: 167,
}

/** What `spec.class` of an intent leads to. */
export interface ClassPolicy {
  readonly name: string
  /** Higher goes first within a leaf of the budget tree, and in a queue. */
  readonly priority: number
  /** Each time it has waited so long, its priority counts one higher; null: never. */
  readonly agingMs: DurationMs | null
  /** What is owed starts within this time. */
  readonly boundMs: DurationMs
  /** After so long its place is kept for it, and others may only go before it without delaying it. */
  readonly reserveAfterMs: DurationMs
  /** Devices that only this class may hold, from any leaf. */
  readonly reserveDevices: number
}

const boundsMs: { readonly [name: string]: number } = {
  debug: 300_000,
  evaluation: 7_200_000,
  training: 86_400_000,
}
/** The bound of a class that states none, by its name. */
export const boundOf = (name: string): DurationMs =>
  (Object.hasOwn(boundsMs, name) ? boundsMs[name]! : 86_400_000) as DurationMs

/** The time after which its place is kept, where it is not stated. */
export const reserveAfterOf = (boundMs: DurationMs): DurationMs => Math.floor(boundMs / 2) as DurationMs

/** A class that the policy says nothing of. */
export const defaultClass = (name: string): ClassPolicy => ({
  agingMs: null,
  boundMs: boundOf(name),
  name,
  priority: 0,
  reserveAfterMs: reserveAfterOf(boundOf(name)),
  reserveDevices: 0,
})
