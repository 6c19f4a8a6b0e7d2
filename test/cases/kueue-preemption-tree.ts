import type { Holder } from '../../domain/kueue/holdings.ts'
import type { QueuePreemption } from '../../domain/policy/quota-policy.ts'
import { QuotaTree, type NodeQuota, type QuotaNodeSpec, type Usage } from '../../domain/quota/quota-tree.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Case } from './case-file.ts'

/** Flavor -> resource -> amount. */
export type Amounts = Readonly<Record<string, Readonly<Record<string, number>>>>

interface CaseQuota {
  readonly nominal: number
  readonly borrowingLimit?: number
  readonly lendingLimit?: number
}

interface CaseNode {
  readonly name: string
  readonly fairWeight?: number
  readonly resourceGroups?: ReadonlyArray<{
    readonly flavors: ReadonlyArray<{ readonly flavor: string; readonly quotas: Readonly<Record<string, CaseQuota>> }>
  }>
}

interface CaseQueue extends CaseNode {
  readonly cohort: string | null
  readonly preemption?: {
    readonly withinQueue?: QueuePreemption['withinQueue']
    readonly reclaimWithinCohort?: QueuePreemption['reclaimWithinCohort']
    readonly borrowWithinCohort?: { readonly policy: 'lowerPriority'; readonly maxPriorityThreshold?: number }
  }
}

interface CaseTree {
  readonly cohorts: ReadonlyArray<CaseNode & { readonly parent: string | null }>
  readonly queues: ReadonlyArray<CaseQueue>
}

export interface CaseHolder {
  readonly id: string
  readonly queue: string
  readonly priority: number
  readonly priorityBoost?: number
  readonly createdAt?: number
  readonly admittedAt?: number
  readonly usage: Amounts
  readonly evictionInProgress?: boolean
}

export const treeOf = (one: Case): QuotaTree => {
  const { cohorts, queues } = (one.document as unknown as { quotaTree: CaseTree }).quotaTree
  return new QuotaTree([
    ...cohorts.map((cohort) => nodeSpec(cohort, 'cohort', cohort.parent)),
    ...queues.map((queue) => nodeSpec(queue, 'queue', queue.cohort)),
  ])
}

const nodeSpec = (node: CaseNode, kind: QuotaNodeSpec['kind'], parent: string | null): QuotaNodeSpec => ({
  name: node.name,
  kind,
  parent,
  fairWeight: node.fairWeight ?? 1,
  quotas: (node.resourceGroups ?? []).flatMap(({ flavors }) =>
    flavors.flatMap(({ flavor, quotas }) =>
      Object.entries(quotas).map(([resource, { nominal, borrowingLimit, lendingLimit }]): NodeQuota => {
        return { flavor, resource, nominal, borrowing: borrowingLimit ?? null, lending: lendingLimit ?? null }
      }),
    ),
  ),
})

export const preemptionsOf = (one: Case, tree: QuotaTree): ((queue: number) => QueuePreemption) => {
  const { queues } = (one.document as unknown as { quotaTree: CaseTree }).quotaTree
  const byNumber = new Map(
    queues.map(({ name, preemption }): [number, QueuePreemption] => [
      tree.node('queue', name),
      {
        withinQueue: preemption?.withinQueue ?? 'never',
        reclaimWithinCohort: preemption?.reclaimWithinCohort ?? 'never',
        borrowWithinCohort: preemption?.borrowWithinCohort?.policy ?? 'never',
        borrowPriorityMax: preemption?.borrowWithinCohort?.maxPriorityThreshold ?? null,
      },
    ]),
  )
  return (queue) => byNumber.get(queue)!
}

export const usageOf = (tree: QuotaTree, amounts: Amounts): Usage =>
  Object.entries(amounts).flatMap(([flavor, resources]) =>
    Object.entries(resources).map(([resource, amount]): [number, number] => {
      const number = tree.flavorResource(flavor, resource)
      if (number === undefined) throw new Error(`nobody has quota for ${resource} of ${flavor}`)
      return [number, amount]
    }),
  )

export const addQueueUsage = (tree: QuotaTree, queueUsage: Readonly<Record<string, Amounts>>): void => {
  for (const [queue, amounts] of Object.entries(queueUsage)) tree.add(tree.node('queue', queue), usageOf(tree, amounts))
}

/** Seconds to ms; absent: before any stated time. */
export const timeOf = (seconds: number | undefined): number => (seconds === undefined ? -Infinity : seconds * 1000)

export const holderOf = (tree: QuotaTree, holder: CaseHolder): Holder => ({
  id: holder.id,
  queue: tree.node('queue', holder.queue),
  priority: holder.priority + (holder.priorityBoost ?? 0),
  createdAt: timeOf(holder.createdAt),
  admittedAt: timeOf(holder.admittedAt),
  usage: usageOf(tree, holder.usage),
  evicting: holder.evictionInProgress ?? false,
})

/** Amounts of a node, for each flavor-resource that it or anything below it has quota for. */
export const amountsOf = (tree: QuotaTree, node: number, amount: (flavorResource: number) => number): Json => {
  const amounts: Record<string, Record<string, number>> = {}
  for (const one of tree.carried[node]!) {
    const { flavor, resource } = tree.flavorResources[one]!
    amounts[flavor] = { ...amounts[flavor], [resource]: amount(one) }
  }
  return amounts
}
