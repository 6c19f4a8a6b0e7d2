import type { PodSetAssignment } from './assignment.ts'
import type { Head } from './head.ts'
import type { Holder } from './holdings.ts'

/** So many replicas of a pod set in one domain; its path over the levels of the topology, coarse to fine. */
export interface PlacedReplicas {
  readonly path: ReadonlyArray<string>
  readonly count: number
}

export interface PodSetPlacement {
  readonly podSet: string
  readonly domains: ReadonlyArray<PlacedReplicas>
}

/** Of those pod sets only that are placed. */
export type Placement = ReadonlyArray<PodSetPlacement>

/**
 * Where replicas lie, for flavors whose quota is not all that counts. It knows by itself what every holder has on which
 * node; `hold` and `release` are about heads of the cycle, and are exact inverses of each other.
 */
export interface Placer {
  /** Whether replicas of the head's pod set have to be placed on this flavor. */
  readonly concerns: (head: Head, podSet: number, flavor: string) => boolean
  /**
   * A place for all pod sets that it concerns, beside all that is held. Null: there is none.
   * @param out holders that are taken to be gone; `everyone`: as if nobody held anything
   */
  readonly place: (
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    out: ReadonlyArray<Holder> | 'everyone',
  ) => Placement | null
  /** Whether a place found before is still free beside all that is held. */
  readonly isFree: (
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    placement: Placement,
    out: ReadonlyArray<Holder>,
  ) => boolean
  readonly hold: (head: Head, podSets: ReadonlyArray<PodSetAssignment>, placement: Placement) => void
  readonly release: (head: Head) => void
}
