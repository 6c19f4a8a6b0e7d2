import type { FairSharingStrategy, QueuePreemption } from '../policy/quota-policy.ts'
import type { Usage } from '../quota/quota-tree.ts'
import type { Holder, Holdings } from './holdings.ts'

/** What asks for quota that others hold. Times in ms, -Infinity: before any stated time. */
export interface Preemptor {
  readonly id: string
  /** Number of its queue in the tree. */
  readonly queue: number
  /** With whatever boosts it. */
  readonly priority: number
  readonly createdAt: number
  /** All that it asks for, each flavor-resource once. */
  readonly usage: Usage
  /** Numbers of the flavor-resources, among those, of which there is too little. */
  readonly wanted: ReadonlyArray<number>
}

export interface PreemptionRequest {
  /** A search changes them and leaves them as it found them. */
  readonly holdings: Holdings
  readonly preemptor: Preemptor
  readonly preemptionOf: (queue: number) => QueuePreemption
  /** Null: classical preemption. Else at least one, tried in this order. */
  readonly fairSharing: ReadonlyArray<FairSharingStrategy> | null
  readonly loops: 'safe' | 'compatible'
  /** Whether a holder whom the rules give away may be evicted now, for whatever else is promised; absent: it may. */
  readonly mayEvict?: (holder: Holder, preemptor: Preemptor) => boolean
  /**
   * Asked once quota says that it fits, with those who are out at that moment, who are not in `holdings` then: whether
   * it finds its place as well. Whoever says yes must say yes when more are out.
   */
  readonly fits?: (out: ReadonlyArray<Holder>) => boolean
}

/** By which right a victim is taken. */
export type VictimReason = 'WithinQueue' | 'ReclaimInCohort' | 'ReclaimWhileBorrowing' | 'FairShareInCohort'

export interface Victim {
  readonly holder: Holder
  readonly reason: VictimReason
}

/**
 * Whether there are victims, and where: `preempt` with some of the own queue, `reclaim` with others only.
 * `borrowLevel` is the one that is left once they are gone; without victims, the one of now.
 */
export interface PreemptionOutlook {
  readonly possibility: 'noCandidates' | 'preempt' | 'reclaim'
  readonly borrowLevel: number
}
