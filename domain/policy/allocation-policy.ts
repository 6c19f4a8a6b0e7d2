import type { DurationMs } from '../kernel/units.ts'
import { defaultClass, type BudgetPolicy, type ClassPolicy } from './budget-policy.ts'
import {
  defaultCaps,
  defaultContract,
  defaultLimits,
  type CapsPolicy,
  type ContractPolicy,
  type ExceptionPolicy,
  type HeadroomPolicy,
  type LimitsPolicy,
  type ProtectedPoolPolicy,
  type ReservationPolicy,
} from './contract-policy.ts'
import {
  defaultFairTree,
  defaultKueue,
  type AcceleratorPolicy,
  type AcceleratorQuota,
  type CohortPolicy,
  type FairTreePolicy,
  type FlavorFungibility,
  type KueuePolicy,
  type QueuePreemption,
} from './quota-policy.ts'

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
  /** Path into the budget tree that its workloads belong to unless they say another. */
  readonly budget?: string
  /** Absent: it stands alone. */
  readonly cohort?: string
  /** Thousandths; absent: 1000. */
  readonly fairWeightMilli?: number
  readonly fungibility?: FlavorFungibility
  /** What it has lent is back this long after it is needed, debt or not; absent: by debt alone. */
  readonly lendingDeadlineMs?: DurationMs
  readonly preemption?: QueuePreemption
  /** In the order in which accelerators are tried; absent: what it may hold is not limited. */
  readonly quotas?: ReadonlyArray<AcceleratorQuota>
}

export const sharings = ['budgets', 'kueue', 'fair-tree', 'drf'] as const
/**
 * Who is next, and who may be evicted for whom. `budgets`: GPU time over a window (without a budget tree: the queues in
 * their order, and nobody is evicted); `kueue`: quota, borrowing and reclaim; `fair-tree`: decayed usage; `drf`: the
 * lowest dominant share.
 */
export type Sharing = (typeof sharings)[number]

/** Where nothing is stated. */
export const defaultCommands: CommandPolicy = {
  startWithinMs: 120_000 as DurationMs,
  startsMax: 3,
  stopWithinMs: 120_000 as DurationMs,
}

export const defaultTopologyLevels: ReadonlyArray<string> = ['domain']

/**
 * An AllocationPolicy document, version 1 (docs/policy.md), decoded, with every default filled in. Members that may be
 * absent are so where the document says nothing of them, so that what older documents mean keeps its hash.
 */
export interface AllocationPolicy {
  readonly accelerators?: ReadonlyArray<AcceleratorPolicy>
  readonly budgets?: BudgetPolicy
  readonly caps?: CapsPolicy
  readonly classes?: ReadonlyArray<ClassPolicy>
  readonly cohorts?: ReadonlyArray<CohortPolicy>
  readonly contract?: ContractPolicy
  readonly exceptions?: ReadonlyArray<ExceptionPolicy>
  readonly fairTree?: FairTreePolicy
  readonly headroom?: HeadroomPolicy
  readonly kueue?: KueuePolicy
  readonly limits?: LimitsPolicy
  readonly protectedPools?: ReadonlyArray<ProtectedPoolPolicy>
  readonly reservations?: ReadonlyArray<ReservationPolicy>
  /** Absent: budgets. */
  readonly sharing?: Sharing
  /** Names of the levels in which nodes lie, from coarse to fine, above the node itself; absent: `domain` alone. */
  readonly topologyLevels?: ReadonlyArray<string>
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
  policy.frozen === 'all' || policy.frozen?.includes(pool) === true ? 'frozen' : modeOf(policy, pool)

export const modeOf = (policy: AllocationPolicy, pool: string): Mode => policy.poolModes[pool] ?? policy.mode

export const commandsOf = (policy: AllocationPolicy | null): CommandPolicy => policy?.commands ?? defaultCommands

export const contractOf = (policy: AllocationPolicy | null): ContractPolicy => policy?.contract ?? defaultContract
export const limitsOf = (policy: AllocationPolicy | null): LimitsPolicy => policy?.limits ?? defaultLimits
export const capsOf = (policy: AllocationPolicy | null): CapsPolicy => policy?.caps ?? defaultCaps

/** What decides who is next: `queues` where the sharing is budgets and there is no tree. */
export const sharingOf = (policy: AllocationPolicy): Sharing | 'queues' => {
  const { sharing = 'budgets', budgets } = policy
  return sharing === 'budgets' && budgets === undefined ? 'queues' : sharing
}

export const kueueOf = (policy: AllocationPolicy | null): KueuePolicy => policy?.kueue ?? defaultKueue
export const fairTreeOf = (policy: AllocationPolicy | null): FairTreePolicy => policy?.fairTree ?? defaultFairTree
export const topologyLevelsOf = (policy: AllocationPolicy | null): ReadonlyArray<string> =>
  policy?.topologyLevels ?? defaultTopologyLevels
const knownClasses = new WeakMap<AllocationPolicy, ReadonlyMap<string, ClassPolicy>>()

/** Those that it states, by name. */
export const classesOf = (policy: AllocationPolicy): ReadonlyMap<string, ClassPolicy> => {
  let classes = knownClasses.get(policy)
  if (classes === undefined)
    knownClasses.set(policy, (classes = new Map((policy.classes ?? []).map((each) => [each.name, each]))))
  return classes
}

export const classOf = (policy: AllocationPolicy | null, name: string): ClassPolicy =>
  policy?.classes?.find((each) => each.name === name) ?? defaultClass(name)
