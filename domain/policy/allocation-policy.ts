import type { DurationMs } from '../kernel/units.ts'

export const orderings = ['fifo', 'greedy', 'reserve'] as const
/**
 * How a queue's pass treats a workload that does not fit: `fifo` stops there, `greedy` skips it, `reserve` holds its
 * place at the earliest instant it can start and lets pass only what does not delay that.
 */
export type Ordering = (typeof orderings)[number]

export const strategies = ['first-fit', 'best-fit', 'model-aware', 'spread', 'fgd', 'random'] as const
export type Strategy = (typeof strategies)[number]

export const modes = ['observe', 'advise', 'automate'] as const
/** `observe` accounts only, `advise` decides and records, `automate` also sends commands. */
export type Mode = (typeof modes)[number]

/** How long an adapter may take, and how often it may fail, before something else is done. */
export interface CommandPolicy {
  /** Starts of one workload that may fail before it is given up. */
  readonly startsMax: number
  readonly startWithinMs: DurationMs
  /** Beyond what the workload itself declares: its grace period, the cost of its resizing. */
  readonly stopWithinMs: DurationMs
}

/** One kind of request in the mix that fragmentation is measured against, and how many of it there are. */
export interface MixClass {
  readonly cpuMilli: number
  readonly devices: number
  readonly milli: number
  readonly weight: number
}

/** One text for requests of one kind. */
export const mixKey = ({ cpuMilli, devices, milli }: Omit<MixClass, 'weight'>): string =>
  `${cpuMilli} ${devices} ${milli}`

export interface QueuePolicy {
  readonly name: string
  readonly ordering: Ordering
}

/** Where nothing is stated. */
export const defaultCommands: CommandPolicy = {
  startWithinMs: 120_000 as DurationMs,
  startsMax: 3,
  stopWithinMs: 120_000 as DurationMs,
}

/** An AllocationPolicy document, version 1 (docs/policy.md), decoded, with every default filled in. */
export interface AllocationPolicy {
  /** Absent where the document says nothing else than the defaults. */
  readonly commands?: CommandPolicy
  /** Pools in which nothing is decided and no command is sent until they are let go again; absent: none. */
  readonly frozen?: 'all' | ReadonlyArray<string>
  readonly name: string
  readonly owner: string | null
  /** A date, `2026-12-31`. */
  readonly reviewDate: string | null
  readonly impactHypothesis: string | null
  readonly placement: {
    readonly strategy: Strategy
    /** Only for `random`: the same seed places the same. */
    readonly seed: number
    /** Only for `fgd`; null: the demand seen so far. */
    readonly mix: ReadonlyArray<MixClass> | null
  }
  /** Considered in this order at each instant. */
  readonly queues: ReadonlyArray<QueuePolicy>
  readonly mode: Mode
  /** Modes of pools that differ from `mode`. */
  readonly poolModes: { readonly [pool: string]: Mode }
}

/** What may be done in a pool: `frozen` wins over its mode. */
export const standingOf = (policy: AllocationPolicy, pool: string): Mode | 'frozen' =>
  policy.frozen === 'all' || policy.frozen?.includes(pool) === true ? 'frozen' : (policy.poolModes[pool] ?? policy.mode)

export const commandsOf = (policy: AllocationPolicy | null): CommandPolicy => policy?.commands ?? defaultCommands
