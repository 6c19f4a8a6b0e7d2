import type { DurationMs } from '../kernel/units.ts'

/** What a running attempt is promised, and what it owes in return. */
export interface ContractPolicy {
  /** Most of a declared minimum runtime that is protected. */
  readonly minRuntimeMaxMs: DurationMs
  readonly gracePeriodMaxMs: DurationMs
  /** A drill that passed counts for so long. */
  readonly drillValidMs: DurationMs
  /** Whether only what passed a drill may be evicted. */
  readonly drillRequired: boolean
  /** Whether a lease that never reported progress counts as idle, too. */
  readonly progressRequired: boolean
}

/** How much may be taken from whom. */
export interface LimitsPolicy {
  /** Evictions of one team's attempts in an hour; null: no limit. */
  readonly preemptionsPerTeamHour: number | null
  /** A workload that was evicted so often is no longer a victim; null: never. */
  readonly promotionAfter: number | null
  /** Evictions in the cell within a minute; null: no limit. */
  readonly evictionsPerMinute: number | null
  /** Work lost by one decision, milli-unit hours; null: no limit. */
  readonly lossMaxMilliUnitHours: number | null
  /** Freed devices are kept for whom they were freed so long. */
  readonly holdMs: DurationMs
  /** Sets of victims that are looked at in one pass. */
  readonly searchMax: number
}

/** Most devices that one may hold, thousandths; null: no cap. */
export interface CapsPolicy {
  readonly perPersonMilli: number | null
  readonly perTeamMilli: number | null
  /** Teams that differ. */
  readonly teams: { readonly [team: string]: number }
}

/** Nodes on which those of some budgets cannot be preempted by anybody else. */
export interface ProtectedPoolPolicy {
  readonly name: string
  readonly nodes: ReadonlyArray<string>
  /** Paths into the budget tree. */
  readonly budgets: ReadonlyArray<string>
}

/** Devices that are kept for one budget, used or not, until they expire. */
export interface ReservationPolicy {
  readonly name: string
  readonly budget: string
  readonly devices: number
  readonly owner: string
  readonly justification: string
  /** A date; from the beginning of that day (UTC) it is released unless it is justified again by a new policy. */
  readonly expires: string
}

export interface HeadroomPolicy {
  /** Hundredths of the schedulable devices that work which may not be preempted leaves alone. */
  readonly percent: number
  readonly lent: boolean
  /** Hundredths between which such work is meant to be. */
  readonly band: { readonly low: number; readonly high: number }
}

export const subjectKinds = ['team', 'submitter', 'budget', 'workload'] as const
export const allowances = ['cap', 'not-preempted', 'non-preemptible-over-entitlement'] as const

/** What a rule does not bind for a while, and who answers for it. */
export interface ExceptionPolicy {
  readonly name: string
  readonly owner: string
  readonly reason: string
  /** A date, from the beginning of which (UTC) it no longer holds; null: for as long as the policy does. */
  readonly expires: string | null
  /** By `exception grant`, and not by who wrote the document: another document ends it no sooner. */
  readonly granted?: boolean
  readonly subject: { readonly kind: (typeof subjectKinds)[number]; readonly name: string }
  /** A higher cap, thousandths of devices; not being evicted; being started although it may not be preempted. */
  readonly allows:
    | { readonly kind: 'cap'; readonly devicesMilli: number }
    | { readonly kind: 'not-preempted' }
    | { readonly kind: 'non-preemptible-over-entitlement' }
}

export const defaultContract: ContractPolicy = {
  drillRequired: true,
  drillValidMs: 2_592_000_000 as DurationMs,
  gracePeriodMaxMs: 600_000 as DurationMs,
  minRuntimeMaxMs: 7_200_000 as DurationMs,
  progressRequired: false,
}

export const defaultLimits: LimitsPolicy = {
  evictionsPerMinute: 60,
  holdMs: 900_000 as DurationMs,
  lossMaxMilliUnitHours: null,
  preemptionsPerTeamHour: 20,
  promotionAfter: 3,
  searchMax: 1000,
}

export const defaultCaps: CapsPolicy = { perPersonMilli: null, perTeamMilli: null, teams: {} }

/** Beside `percent`, which has to be stated. */
export const defaultHeadroom: Omit<HeadroomPolicy, 'percent'> = { band: { high: 80, low: 60 }, lent: true }
