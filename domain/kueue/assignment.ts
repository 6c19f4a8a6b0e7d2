import type { Usage } from '../quota/quota-tree.ts'

/** What a head as a whole may do: worst of what its pod sets may. */
export type AssignmentMode = 'noFit' | 'preempt' | 'fit'

/** Why a head holds no quota. */
export type BlockedReason =
  'WaitingForQuota' | 'ExceedsMaxQuota' | 'NoMatchingAccelerator' | 'WaitingForVictims' | 'TopologyPlacementFailed'

export interface ChosenFlavor {
  readonly resource: string
  readonly flavor: string
  /** -1: nobody has quota for it, and it needs none. */
  readonly flavorResource: number
  readonly mode: 'preempt' | 'fit'
}

export interface AssignedFlavor extends ChosenFlavor {
  /** Of the resource, for all replicas of the pod set. */
  readonly amount: number
}

/**
 * Where a search for flavors ended before the last one: by pod set of the head and resource group of its queue, number of
 * the flavor that is tried next; 0, or nothing: the first.
 */
export type UntriedFlavors = ReadonlyArray<ReadonlyArray<number>>

export interface PodSetAssignment {
  readonly name: string
  readonly count: number
  /** Of each resource that it asks for; empty where no flavor will do. */
  readonly flavors: ReadonlyArray<AssignedFlavor>
}

/** Which flavors the pod sets of a head would get, and what that takes. */
export interface Assignment {
  readonly mode: AssignmentMode
  /** In the order of the head's; those behind one for which no flavor will do have none either. */
  readonly podSets: ReadonlyArray<PodSetAssignment>
  readonly usage: Usage
  readonly borrowLevel: number
  /** Null unless `mode` is `noFit`. */
  readonly noFitReason: BlockedReason | null
  /** Null: no search ended before the last flavor. */
  readonly untried: UntriedFlavors | null
}

/** The flavor-resources of which there is too little now. */
export const wantedBy = ({ podSets }: Assignment): ReadonlyArray<number> => {
  const wanted = new Set<number>()
  for (const { flavors } of podSets)
    for (const { mode, flavorResource } of flavors) if (mode === 'preempt') wanted.add(flavorResource)
  return [...wanted]
}
