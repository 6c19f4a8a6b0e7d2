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

/** An AllocationPolicy document, version 1 (docs/policy.md), decoded, with every default filled in. */
export interface AllocationPolicy {
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
