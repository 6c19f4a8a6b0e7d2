import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { quotaStanding, type QuotaStanding } from '../quota/quota-standing.ts'
import { QuotaTree, type Usage } from '../quota/quota-tree.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import { quotaNodesOf } from '../policy/quota-nodes.ts'
import { quotaResources } from '../policy/quota-policy.ts'
import type { UnitTable } from '../policy/unit-table.ts'
import { wholeGpu } from '../kernel/units.ts'
import { partOf } from '../workload/request.ts'
import type { Workload } from './workload.ts'

/** What a queue lets one such request use, of one accelerator class. */
export interface QuotaVerdict {
  readonly accelerator: string
  /** Whether it fits now; else whether it ever could. */
  readonly fits: boolean
  readonly possible: boolean
  /** Of the resource that is shortest: what is asked for, and what there is of it. */
  readonly asked: number
  readonly available: number
  /** Its number; -1: nothing is short. */
  readonly flavorResource: number
}

/** The policy's quota tree and what is used of it. Queues without quota are not limited by it. */
export class QuotaBook {
  readonly tree: QuotaTree | null
  private readonly units: UnitTable
  /** Accelerator classes of each queue, in the order in which they are tried. */
  private readonly accelerators = new Map<string, ReadonlyArray<string>>()

  constructor(policy: AllocationPolicy, units: UnitTable) {
    this.units = units
    const limited = policy.queues.filter(({ quotas, cohort }) => quotas !== undefined || cohort !== undefined)
    this.tree = limited.length === 0 ? null : new QuotaTree(quotaNodesOf({ ...policy, queues: limited }))
    for (const { name, quotas } of limited)
      this.accelerators.set(
        name,
        (quotas ?? []).map(({ accelerator }) => accelerator),
      )
  }

  /** Whether the queue limits anything. */
  limits(queue: string): boolean {
    return this.accelerators.has(queue)
  }

  /** For each class of the queue that the request accepts, in order. Empty: the queue has none of them. */
  verdicts(queue: string, shape: Shape): ReadonlyArray<QuotaVerdict> {
    const { models } = shape.request
    const accepted = models === null ? null : new Set(models.map((model) => this.units.accelerator(model)))
    const verdicts: QuotaVerdict[] = []
    for (const accelerator of this.accelerators.get(queue) ?? [])
      if (accepted === null || accepted.has(accelerator)) verdicts.push(this.verdict(queue, accelerator, shape))
    return verdicts
  }

  /** Milli-units of all devices that the queue could ever use; Infinity: it limits none. */
  potentialUnits(queue: string): number {
    const { tree } = this
    if (tree === null || !this.limits(queue)) return Infinity
    const node = tree.node('queue', queue)
    let sum = 0
    for (const accelerator of this.accelerators.get(queue)!) {
      const devices = tree.flavorResource(accelerator, 'devices')
      if (devices === undefined || !tree.lists(node, devices)) return Infinity
      sum += Math.ceil((tree.potential(node, devices) * this.units.milliUnits(accelerator)) / wholeGpu)
    }
    return sum
  }

  /** The numbers that a verdict which does not fit comes from. */
  standing(queue: string, { flavorResource }: QuotaVerdict): QuotaStanding | null {
    const tree = this.tree!
    return flavorResource < 0 ? null : quotaStanding(tree, tree.node('queue', queue), flavorResource)
  }

  count(workload: Workload, fleet: Fleet, parts: Placement['parts'], sign: 1 | -1): void {
    const { tree } = this
    const { name } = workload.queue
    if (tree === null || !this.limits(name)) return
    const node = tree.node('queue', name)
    for (const usage of this.usages(workload, fleet, parts)) {
      if (sign > 0) tree.add(node, usage)
      else tree.remove(node, usage)
    }
  }

  /** What each of the parts uses. */
  *usages({ shape }: Workload, fleet: Fleet, parts: Placement['parts']): Generator<Usage> {
    for (const part of parts) {
      const accelerator = this.units.accelerator(fleet.nodes[part.node]!.model) ?? anyAccelerator
      const { devices, cpuMilli, hostMemoryMib } = shape.request
      const taken = part.devices.length
      yield this.usage(accelerator, {
        devices: taken * part.milli,
        cpu: partOf(cpuMilli, taken, devices),
        memory: partOf(hostMemoryMib, taken, devices),
      })
    }
  }

  /**
   * Whether the queue uses more of anything than is its own.
   * @param leaving of that, by flavor-resource: it is on its way back
   */
  borrows(queue: string, leaving: ReadonlyMap<number, number>): boolean {
    const tree = this.tree!
    const node = tree.node('queue', queue)
    return tree.carried[node]!.some((one) => tree.usage(node, one) - (leaving.get(one) ?? 0) > tree.subtree(node, one))
  }

  /**
   * Flavor-resources of the first class that the request accepts and the queue's own quota, less what the queue uses
   * itself, has room for; null: there is none.
   */
  ownRoom(queue: string, shape: Shape): ReadonlyArray<number> | null {
    const tree = this.tree!
    const node = tree.node('queue', queue)
    for (const { accelerator } of this.verdicts(queue, shape)) {
      const asks = this.asked(accelerator, shape).filter(([flavorResource]) => tree.lists(node, flavorResource))
      const fits = asks.every(([one, asked]) => tree.usage(node, one) + asked <= tree.subtree(node, one))
      if (fits) return asks.map(([flavorResource]) => flavorResource)
    }
    return null
  }

  private verdict(queue: string, accelerator: string, shape: Shape): QuotaVerdict {
    const tree = this.tree!
    const node = tree.node('queue', queue)
    const asks = this.asked(accelerator, shape)
    let worst: QuotaVerdict = { accelerator, fits: true, possible: true, asked: 0, available: 0, flavorResource: -1 }
    for (const [flavorResource, asked] of asks) {
      // What its queue does not list is not limited.
      if (!tree.lists(node, flavorResource)) continue
      const available = Math.max(0, tree.available(node, flavorResource))
      if (asked <= available) continue
      const possible = worst.possible && asked <= tree.potential(node, flavorResource)
      worst = { accelerator, fits: false, possible, asked, available, flavorResource }
    }
    return worst
  }

  private asked(accelerator: string, { request: { devices, milli, cpuMilli, hostMemoryMib } }: Shape): Usage {
    return this.usage(accelerator, { devices: devices * (milli || 1000), cpu: cpuMilli, memory: hostMemoryMib })
  }

  private usage(accelerator: string, amounts: { readonly [R in (typeof quotaResources)[number]]: number }): Usage {
    return quotaResources.flatMap((resource) => {
      const flavorResource = this.tree!.flavorResource(accelerator, resource)
      return flavorResource === undefined || amounts[resource] === 0
        ? []
        : [[flavorResource, amounts[resource]] as const]
    })
  }
}

/** Quota of what needs no particular device. */
const anyAccelerator = 'any'
