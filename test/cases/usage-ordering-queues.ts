import { UsageOrdering, type SubQueueCandidate } from '../../domain/fairness/usage-ordering.ts'
import type { DurationMs } from '../../domain/kernel/units.ts'
import { timeOf } from './kueue-preemption-tree.ts'

export type ResourceAmounts = { readonly [resource: string]: number }

/** What cases about the order within a queue have in common. */
export interface SubQueuesJson {
  readonly settings: {
    readonly usageBasedOrdering: boolean
    readonly resourceWeights?: ResourceAmounts
    readonly usageHalfLifeSeconds?: number
    readonly usageSamplingIntervalSeconds?: number
  }
  readonly subQueues: ReadonlyArray<{
    readonly name: string
    readonly queue: string
    readonly fairWeight: number
    readonly decayedUsage?: ResourceAmounts
  }>
}

export interface WaitingJson {
  readonly id: string
  readonly queue: string
  readonly subQueue: string
  readonly priority: number
  readonly createdAt?: number
}

export const candidateOf = ({ id, subQueue, priority, createdAt }: WaitingJson): SubQueueCandidate => ({
  id,
  subQueue,
  priority,
  createdAt: timeOf(createdAt),
})

export const shapeOf = (amounts: ResourceAmounts, resources: ReadonlyArray<string>): ReadonlyArray<number> =>
  resources.map((resource) => amounts[resource] ?? 0)

/** A case's sub-queues with what they have used. */
export const orderingOf = ({ settings, subQueues }: SubQueuesJson, resources: ReadonlyArray<string>): UsageOrdering => {
  const { resourceWeights, usageHalfLifeSeconds = 0, usageSamplingIntervalSeconds = 300 } = settings
  const ordering = new UsageOrdering(
    {
      halfLifeMs: (usageHalfLifeSeconds * 1000) as DurationMs,
      samplingMs: (usageSamplingIntervalSeconds * 1000) as DurationMs,
      resourceWeightsMilli: resources.map((resource) => Math.round((resourceWeights?.[resource] ?? 1) * 1000)),
    },
    subQueues.map(({ name, fairWeight }) => ({ name, weightMilli: Math.round(fairWeight * 1000) })),
  )
  for (const { name, decayedUsage } of subQueues) ordering.addUsage(name, shapeOf(decayedUsage ?? {}, resources))
  return ordering
}
