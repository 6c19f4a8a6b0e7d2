import type { QueuePolicy } from '../policy/allocation-policy.ts'
import {
  defaultFungibility,
  defaultPreemption,
  quotaResources,
  type FlavorFungibility,
  type QueuePreemption,
} from '../policy/quota-policy.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'

/** A flavor of a resource group; `flavorResources` beside the group's resources, -1 where nobody has quota for it. */
export interface GroupFlavor {
  readonly name: string
  readonly flavorResources: ReadonlyArray<number>
}

/** Resources that get the same flavor, and the flavors in the order in which they are tried. */
export interface ResourceGroup {
  readonly resources: ReadonlyArray<string>
  readonly flavors: ReadonlyArray<GroupFlavor>
}

/** What a queue's heads are decided by, beside its quota. */
export interface QueueRules {
  readonly groups: ReadonlyArray<ResourceGroup>
  readonly preemption: QueuePreemption
  readonly fungibility: FlavorFungibility
  /** `strictFifo`: nobody passes a head that waits; `bestEffortFifo`: one that cannot start now is parked. */
  readonly ordering: 'strictFifo' | 'bestEffortFifo'
  /** What is asked of a resource that the queue has no quota for: `refused` never fits, `ignored` is not limited. */
  readonly undeclared: 'refused' | 'ignored'
}

export interface ResourceGroupSpec {
  readonly resources: ReadonlyArray<string>
  readonly flavors: ReadonlyArray<string>
}

/** The groups with the tree's numbers looked up. */
export const resourceGroups = (
  tree: QuotaTree,
  specs: ReadonlyArray<ResourceGroupSpec>,
): ReadonlyArray<ResourceGroup> =>
  specs.map(({ resources, flavors }) => ({
    resources,
    flavors: flavors.map((name) => ({
      name,
      flavorResources: resources.map((resource) => tree.flavorResource(name, resource) ?? -1),
    })),
  }))

/**
 * What a policy says of a queue: accelerators in the order of its quotas, one for all resources of a pod set. A resource
 * that the queue states no quota of, and a queue that states none at all, is not limited.
 */
export const queueRulesOf = (tree: QuotaTree, policy: QueuePolicy): QueueRules => {
  const { name, ordering, quotas = [], preemption = defaultPreemption, fungibility = defaultFungibility } = policy
  const queue = tree.node('queue', name)
  const numberOf = (accelerator: string, resource: string): number => {
    const flavorResource = tree.flavorResource(accelerator, resource)
    return flavorResource !== undefined && tree.lists(queue, flavorResource) ? flavorResource : -1
  }
  const flavors = quotas.map(({ accelerator }) => ({
    name: accelerator,
    flavorResources: quotaResources.map((resource) => numberOf(accelerator, resource)),
  }))
  return {
    groups: flavors.length === 0 ? [] : [{ resources: quotaResources, flavors }],
    preemption,
    fungibility,
    ordering: ordering === 'fifo' ? 'strictFifo' : 'bestEffortFifo',
    undeclared: 'ignored',
  }
}
