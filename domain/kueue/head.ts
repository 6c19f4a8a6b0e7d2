import type { UntriedFlavors } from './assignment.ts'

/** The resource that counts replicas, where a queue has quota for it. */
export const replicaResource = 'pods'

export interface PodSetRequest {
  readonly name: string
  /** Replicas that need quota: those that have finished already are not among them. */
  readonly count: number
  /** So few replicas will do; equal to `count` where all are needed. */
  readonly minCount: number
  /** For one replica, each resource once. */
  readonly requests: ReadonlyArray<readonly [resource: string, amount: number]>
  /** Pod sets of one group get the same flavors; null: alone. */
  readonly group: string | null
}

/** The workload whose turn it is in its queue. */
export interface Head {
  readonly id: string
  /** Number of its queue in the quota tree. */
  readonly queue: number
  /** With whatever boosts it. */
  readonly priority: number
  /** Both in ms; -Infinity: before any stated time. `queuedAt` is what order goes by, `createdAt` what evictions go by. */
  readonly createdAt: number
  readonly queuedAt: number
  readonly podSets: ReadonlyArray<PodSetRequest>
  /** Whether replicas of the pod set may run on the flavor, quota aside. */
  readonly accepts: (podSet: number, flavor: string) => boolean
  /** Goes before all others: it waits for those who were evicted for it. */
  readonly isPreemptor: boolean
  /** Where its last search for flavors ended; absent: it begins with the first. */
  readonly untried?: UntriedFlavors | null
  /** Heads of one queue that have the same ask for the same, and are accepted by the same flavors; absent: unknown. */
  readonly likeness?: string
}
