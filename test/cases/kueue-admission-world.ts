import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Taint, Toleration } from '../../domain/fleet/taint.ts'
import { accepts, type Flavor, type FlavorDemand } from '../../domain/kueue/flavor.ts'
import type { Head, PodSetRequest } from '../../domain/kueue/head.ts'
import { Holdings } from '../../domain/kueue/holdings.ts'
import { resourceGroups, type QueueRules } from '../../domain/kueue/queue-rules.ts'
import type { FlavorFungibility } from '../../domain/policy/quota-policy.ts'
import type { QuotaTree, Usage } from '../../domain/quota/quota-tree.ts'
import type { Case } from './case-file.ts'
import {
  addQueueUsage,
  holderOf,
  preemptionsOf,
  timeOf,
  treeOf,
  type Amounts,
  type CaseHolder,
} from './kueue-preemption-tree.ts'

interface QueueJson {
  readonly name: string
  readonly ordering?: 'strictFIFO' | 'bestEffortFIFO'
  readonly resourceGroups?: ReadonlyArray<{
    readonly resources: ReadonlyArray<string>
    readonly flavors: ReadonlyArray<{ readonly flavor: string }>
  }>
  readonly flavorFungibility?: Partial<FlavorFungibility>
}

interface FlavorJson {
  readonly name: string
  readonly nodeLabels?: Flavor['labels']
  readonly taints?: ReadonlyArray<Taint>
  readonly tolerations?: ReadonlyArray<Partial<Toleration>>
}

interface WorldJson {
  readonly quotaTree: { readonly flavors: ReadonlyArray<FlavorJson>; readonly queues: ReadonlyArray<QueueJson> }
  readonly running?: ReadonlyArray<CaseHolder>
  readonly queueUsage?: Readonly<Record<string, Amounts>>
}

export interface PendingJson {
  readonly id: string
  readonly queue: string
  readonly priority: number
  readonly createdAt?: number
  readonly podSets: ReadonlyArray<PodSetJson>
}

interface PodSetJson extends Pick<PodSetRequest, 'name' | 'count'> {
  readonly minCount?: number
  readonly requests: Readonly<Record<string, number>>
  readonly group?: string
  readonly alreadyFinished?: number
  readonly tolerations?: ReadonlyArray<Partial<Toleration>>
  readonly nodeSelector?: FlavorDemand['selection']['labels']
  readonly nodeAffinityTerms?: FlavorDemand['selection']['terms']
}

/** A case's tree, rules and workloads as domain values. */
export class AdmissionWorld {
  readonly tree: QuotaTree
  readonly holdings: Holdings
  private readonly rules = new Map<number, QueueRules>()
  private readonly flavors: ReadonlyMap<string, Flavor>

  constructor(one: Case) {
    const { quotaTree, running, queueUsage } = one.document as unknown as WorldJson
    this.tree = treeOf(one)
    this.holdings = new Holdings(this.tree)
    this.flavors = new Map(quotaTree.flavors.map((flavor) => [flavor.name, flavorOf(flavor)]))
    const preemptionOf = preemptionsOf(one, this.tree)
    for (const queue of quotaTree.queues) {
      const number = this.tree.node('queue', queue.name)
      this.rules.set(number, { ...rulesOf(this.tree, queue), preemption: preemptionOf(number) })
    }
    for (const holder of running ?? []) this.holdings.add(holderOf(this.tree, holder))
    addQueueUsage(this.tree, queueUsage ?? {})
  }

  rulesOf(queue: number): QueueRules {
    return this.rules.get(queue)!
  }

  amountsOf(usage: Usage): Json {
    const amounts: Record<string, Record<string, number>> = {}
    for (const [flavorResource, amount] of usage) {
      const { flavor, resource } = this.tree.flavorResources[flavorResource]!
      ;(amounts[flavor] ??= {})[resource] = amount
    }
    return amounts
  }

  headOf({ id, queue, priority, createdAt, podSets }: PendingJson): Head {
    const demands = podSets.map(demandOf)
    return {
      id,
      queue: this.tree.node('queue', queue),
      priority,
      createdAt: timeOf(createdAt),
      queuedAt: timeOf(createdAt),
      podSets: podSets.map(podSetOf),
      accepts: (podSet, flavor) => accepts(this.flavors.get(flavor)!, demands[podSet]!),
      isPreemptor: false,
    }
  }
}

const rulesOf = (
  tree: QuotaTree,
  { flavorFungibility, ordering, resourceGroups: groups }: QueueJson,
): Omit<QueueRules, 'preemption'> => ({
  groups: resourceGroups(
    tree,
    (groups ?? []).map(({ resources, flavors }) => ({ resources, flavors: flavors.map(({ flavor }) => flavor) })),
  ),
  fungibility: {
    preference: 'borrowingOverPreemption',
    whenCanBorrow: 'mayStopSearch',
    whenCanPreempt: 'tryNextFlavor',
    ...flavorFungibility,
  },
  ordering: ordering === 'strictFIFO' ? 'strictFifo' : 'bestEffortFifo',
  undeclared: 'refused',
})

const flavorOf = ({ name, nodeLabels, taints, tolerations }: FlavorJson): Flavor => ({
  name,
  labels: nodeLabels ?? {},
  taints: taints ?? [],
  tolerations: (tolerations ?? []).map(tolerationOf),
})

const tolerationOf = (one: Partial<Toleration>): Toleration => ({
  key: one.key ?? null,
  operator: one.operator ?? 'equal',
  value: one.value ?? '',
  effect: one.effect ?? null,
})

const demandOf = ({ tolerations, nodeSelector, nodeAffinityTerms }: PodSetJson): FlavorDemand => ({
  selection: { labels: nodeSelector ?? {}, terms: nodeAffinityTerms ?? [] },
  tolerations: (tolerations ?? []).map(tolerationOf),
})

const podSetOf = (one: PodSetJson): PodSetRequest => {
  const finished = one.alreadyFinished ?? 0
  return {
    name: one.name,
    count: one.count - finished,
    minCount: Math.max(0, (one.minCount ?? one.count) - finished),
    requests: Object.entries(one.requests),
    group: one.group ?? null,
  }
}
