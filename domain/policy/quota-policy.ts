import { wholeGpu, type DurationMs } from '../kernel/units.ts'

/** A kind of hardware, as quota and charges know it: a flavor. */
export interface AcceleratorPolicy {
  readonly name: string
  /** Models of devices that belong to it; a model that no accelerator names is one of its own name. */
  readonly models: ReadonlyArray<string>
  /** Thousandths of the reference device that one of its devices counts for. */
  readonly milliUnits: number
}

/** Of one resource; null: without limit. Devices in thousandths, CPU in thousandths of a core, memory in MiB. */
export interface Quota {
  readonly borrowing: number | null
  readonly lending: number | null
  readonly nominal: number
}

export const quotaResources = ['devices', 'cpu', 'memory'] as const
export type QuotaResource = (typeof quotaResources)[number]

/** What may be held of one accelerator class; a resource that is left out is not limited by it. */
export interface AcceleratorQuota {
  readonly accelerator: string
  readonly cpu?: Quota
  readonly devices?: Quota
  readonly memory?: Quota
}

export interface CohortPolicy {
  readonly name: string
  /** Null: a root. */
  readonly parent: string | null
  /** Thousandths; 1000 is the usual weight. */
  readonly fairWeightMilli: number
  /** Shared by all below it, beside what they bring. In the order in which accelerators are tried. */
  readonly quotas: ReadonlyArray<AcceleratorQuota>
}

/** Where nothing is stated. */
export const defaultFairWeightMilli = 1000

export const withinQueuePolicies = ['never', 'lowerPriority', 'lowerOrNewerEqualPriority'] as const
export const reclaimPolicies = ['never', 'lowerPriority', 'any'] as const
export const borrowPolicies = ['never', 'lowerPriority'] as const

/** Who may be evicted for a workload of the queue; only where `sharing` is kueue. */
export interface QueuePreemption {
  readonly borrowWithinCohort: (typeof borrowPolicies)[number]
  /** While borrowing, nobody above it is taken; null: nobody at or above the preemptor's own priority. */
  readonly borrowPriorityMax: number | null
  readonly reclaimWithinCohort: (typeof reclaimPolicies)[number]
  readonly withinQueue: (typeof withinQueuePolicies)[number]
}

/** Where nothing is stated: nobody is evicted for the queue. */
export const defaultPreemption: QueuePreemption = {
  borrowPriorityMax: null,
  borrowWithinCohort: 'never',
  reclaimWithinCohort: 'never',
  withinQueue: 'never',
}

export const flavorPreferences = ['borrowingOverPreemption', 'preemptionOverBorrowing'] as const
export const flavorSearches = ['mayStopSearch', 'tryNextFlavor'] as const

/** Which accelerator class is taken where several would do; only where `sharing` is kueue. */
export interface FlavorFungibility {
  readonly preference: (typeof flavorPreferences)[number]
  readonly whenCanBorrow: (typeof flavorSearches)[number]
  readonly whenCanPreempt: (typeof flavorSearches)[number]
}

export const defaultFungibility: FlavorFungibility = {
  preference: 'borrowingOverPreemption',
  whenCanBorrow: 'mayStopSearch',
  whenCanPreempt: 'tryNextFlavor',
}

export const fairSharingStrategies = ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'] as const
export type FairSharingStrategy = (typeof fairSharingStrategies)[number]

export const loopRules = ['safe', 'compatible'] as const

/** Teams of a queue go by what they have used, which counts half as much after each half-life. */
export interface UsageOrderingPolicy {
  /** Zero: usage stays what it is, and nothing is added to it. */
  readonly halfLifeMs: DurationMs
  /** Usage moves towards what is held at multiples of this since 1970. */
  readonly samplingMs: DurationMs
  /** Thousandths, by team; of others 1000. Zero: behind all that have one. */
  readonly teamWeightsMilli: { readonly [team: string]: number }
  /** Thousandths, of a device, a core and 1,000 MiB. */
  readonly weightsMilli: { readonly [R in QuotaResource]: number }
}

export const defaultUsageOrdering: UsageOrderingPolicy = {
  halfLifeMs: 604_800_000 as DurationMs,
  samplingMs: 300_000 as DurationMs,
  teamWeightsMilli: {},
  weightsMilli: { devices: 1000, cpu: 0, memory: 0 },
}

/** How the kueue mode differs from its defaults. */
export interface KueuePolicy {
  /** Shares decide order and victims; null: classical preemption. Tried in this order. */
  readonly fairSharing: ReadonlyArray<FairSharingStrategy> | null
  /**
   * `safe` refuses a victim set that was re-validated after return of what is not needed and is no longer legal, and one
   * by which the victim could at once evict back; `compatible` does as Kueue does, and may loop.
   */
  readonly loops: (typeof loopRules)[number]
  /** Absent: by class and age alone. */
  readonly usageOrdering?: UsageOrderingPolicy
}

export const defaultKueue: KueuePolicy = { fairSharing: null, loops: 'safe' }

/** Decayed usage, where `sharing` is fair-tree. */
export interface FairTreePolicy {
  /** Zero: nothing decays. */
  readonly halfLifeMs: DurationMs
}

export const defaultFairTree: FairTreePolicy = { halfLifeMs: 604_800_000 as DurationMs }

/** Milli-units of classes whose hardware is known by the beginning of their name: dense BF16 peak beside an H100's. */
const knownMilliUnits = [
  ['a100', 315],
  ['h100', 1000],
  ['b300', 2274],
] as const

/** What one device of the class counts for unless a policy says otherwise. */
export const milliUnitsOf = (accelerator: string): number => {
  const known = knownMilliUnits.find(([beginning]) => accelerator.toLowerCase().startsWith(beginning))
  return known === undefined ? wholeGpu : known[1]
}
