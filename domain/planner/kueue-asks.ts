import type { NodeSpec, Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { Head, PodSetRequest } from '../kueue/head.ts'
import type { Usage } from '../quota/quota-tree.ts'
import { wholeGpu } from '../kernel/units.ts'
import { quotaResources, type QuotaResource } from '../policy/quota-policy.ts'
import { partOf, type PlacementRequest } from '../workload/request.ts'
import type { Cell } from './cell.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/** What workloads that ask for the same have in common. */
interface Ask {
  readonly podSets: ReadonlyArray<PodSetRequest>
  /** Devices of one replica. */
  readonly each: number
  /** By queue: accelerators that it accepts and that the empty fleet would hold it on, for so many nodes as there were. */
  readonly accepted: Map<WaitingQueue, { readonly registrations: number; readonly flavors: ReadonlySet<string> }>
}

/** What workloads ask for, as an admission cycle sees it: a gang is one pod set. */
export class KueueAsks {
  private readonly cell: Cell
  private readonly books: KueueBooks
  private readonly asks = new Map<string, Ask>()
  private models: { readonly registrations: number; readonly byAccelerator: ReadonlyMap<string, string[]> } | null =
    null

  constructor(cell: Cell, books: KueueBooks) {
    this.cell = cell
    this.books = books
  }

  /** The same for workloads of a queue that stand in one line. */
  likenessOf({ class: kind, shape, terms: { elasticity } }: Workload): string {
    const fewest = elasticity === null ? '' : ` ${elasticity.minReplicas} ${elasticity.maxReplicas}`
    return `${shape.index}${fewest} ${kind}`
  }

  /** Order goes by submission, evictions by its time: nobody is newer than who came at the same instant. */
  headOf(workload: Workload): Head {
    const { id, seq, submittedAt } = workload
    const likeness = this.likenessOf(workload)
    const { podSets } = this.askOf(workload, likeness)
    return {
      id,
      queue: this.books.nodeOf(workload.queue),
      priority: this.books.priorityOf(workload),
      createdAt: submittedAt,
      queuedAt: seq,
      podSets,
      accepts: (_, flavor) => this.acceptedBy(workload, likeness).has(flavor),
      isPreemptor: false,
      likeness,
    }
  }

  /** The request with so many replicas, on devices of this accelerator alone; null: of any. */
  shapeOf(workload: Workload, accelerator: string | null, replicas: number): Shape {
    const { shape } = workload
    const { each, podSets } = this.askOf(workload, this.likenessOf(workload))
    const all = replicas === podSets[0]!.count
    const models = accelerator === null ? null : this.modelsOn(accelerator, shape)
    if (all && models === null) return shape
    const { request } = shape
    const devices = all ? request.devices : each * replicas
    return this.cell.shapes.intern({
      ...request,
      devices,
      cpuMilli: partOf(request.cpuMilli, devices, request.devices) as PlacementRequest['cpuMilli'],
      hostMemoryMib: partOf(request.hostMemoryMib, devices, request.devices) as PlacementRequest['hostMemoryMib'],
      models: models ?? request.models,
    })
  }

  /** Under which accelerator's quota a node's devices are for the workload; null: under none. */
  acceleratorOn(workload: Workload, node: number): string | null {
    const { model } = this.cell.fleet.nodes[node]!
    return this.books.units.accelerator(model) ?? this.unnamed(workload)
  }

  nodeOf(node: number): NodeSpec {
    return this.cell.fleet.nodes[node]!
  }

  /** What the fewest replicas take of the first accelerator of its queue that it accepts. */
  leastOf(workload: Workload): Usage {
    const { podSets } = this.askOf(workload, this.likenessOf(workload))
    const [{ minCount, requests }] = podSets as [PodSetRequest]
    const name = this.unnamed(workload)
    const [group] = this.books.rulesOf(this.books.nodeOf(workload.queue)).groups
    const flavor = group?.flavors.find((each) => each.name === name)
    return requests.flatMap(([resource, amount]) => {
      const one = flavor?.flavorResources[quotaResources.indexOf(resource as QuotaResource)] ?? -1
      return one < 0 ? [] : [[one, amount * minCount] as const]
    })
  }

  /** Quota that these parts take: of whole replicas, however they lie. */
  usageOf(workload: Workload, parts: Placement['parts']): Usage {
    const taken = new Map<string, { devices: number; milli: number }>()
    for (const { node, devices, milli } of parts) {
      const accelerator = this.acceleratorOn(workload, node)
      if (accelerator === null) continue
      const known = taken.get(accelerator)
      if (known === undefined) taken.set(accelerator, { devices: devices.length, milli: devices.length * milli })
      else {
        known.devices += devices.length
        known.milli += devices.length * milli
      }
    }
    const [group] = this.books.rulesOf(this.books.nodeOf(workload.queue)).groups
    const usage: [number, number][] = []
    for (const { name, flavorResources } of group?.flavors ?? []) {
      const { devices, milli } = taken.get(name) ?? { devices: -1, milli: 0 }
      if (devices < 0) continue
      quotaResources.forEach((resource, i) => {
        const amount = resource === 'devices' ? milli : this.partOfReplicas(workload, resource, devices)
        if (flavorResources[i]! >= 0 && amount > 0) usage.push([flavorResources[i]!, amount])
      })
    }
    return usage.sort(([a], [b]) => a - b)
  }

  private partOfReplicas(workload: Workload, resource: QuotaResource, devices: number): number {
    const { podSets, each } = this.askOf(workload, this.likenessOf(workload))
    const [{ count, requests }] = podSets as [PodSetRequest]
    const amount = requests.find(([name]) => name === resource)?.[1] ?? 0
    const asked = workload.shape.request.devices
    return devices === asked
      ? amount * count
      : count === 1
        ? partOf(amount, devices, asked)
        : amount * Math.ceil(devices / each)
  }

  private askOf({ shape: { request }, terms: { elasticity } }: Workload, likeness: string): Ask {
    const known = this.asks.get(likeness)
    if (known !== undefined) return known
    const { devices, milli, cpuMilli, hostMemoryMib } = request
    const { maxReplicas: most, minReplicas } = elasticity ?? { maxReplicas: 1, minReplicas: 1 }
    // What does not come in whole replicas, or in slices that stay together, comes whole.
    const each = devices / most
    const divides = most > 0 && Number.isInteger(each) && each > 0 && each % (request.topology?.sliceSize ?? 1) === 0
    const count = divides ? most : 1
    const devicesEach = devices / count
    const requests = [
      ['devices', devicesEach * (milli || wholeGpu)],
      ['cpu', partOf(cpuMilli, 1, count)],
      ['memory', partOf(hostMemoryMib, 1, count)],
    ] as const
    const ask: Ask = {
      podSets: [
        {
          name: 'gang',
          count,
          minCount: divides ? Math.max(1, Math.min(minReplicas, most)) : 1,
          requests: requests.filter(([, amount]) => amount > 0),
          group: null,
        },
      ],
      each: devicesEach,
      accepted: new Map(),
    }
    this.asks.set(likeness, ask)
    return ask
  }

  private acceptedBy(workload: Workload, likeness: string): ReadonlySet<string> {
    const ask = this.askOf(workload, likeness)
    const { registrations } = this.cell.fleet
    const known = ask.accepted.get(workload.queue)
    if (known?.registrations === registrations) return known.flavors
    const flavors = new Set(
      this.flavorsOf(workload).filter((name) => {
        const hasNodes = this.modelsOf(name).length > 0 || (name === this.unnamed(workload) && this.hasUnnamed())
        return hasNodes && this.cell.verdict(this.shapeOf(workload, name, ask.podSets[0]!.minCount)).holds
      }),
    )
    ask.accepted.set(workload.queue, { registrations, flavors })
    return flavors
  }

  /** Accelerators of its queue that its request accepts, in the order in which they are tried. */
  private flavorsOf({ queue, shape: { request } }: Workload): ReadonlyArray<string> {
    const [group] = this.books.rulesOf(this.books.nodeOf(queue)).groups
    const names = group?.flavors.map(({ name }) => name) ?? []
    if (request.models === null) return names
    const accepted = new Set(request.models.map((model) => this.books.units.accelerator(model)))
    return names.filter((name) => accepted.has(name))
  }

  /** Devices of nodes that say no model count as the first accelerator that will do. */
  private unnamed(workload: Workload): string | null {
    return this.flavorsOf(workload)[0] ?? null
  }

  /** Some node is of no accelerator that the policy knows. */
  private hasUnnamed(): boolean {
    return this.cell.fleet.nodes.some(({ model }) => this.books.units.accelerator(model) === null)
  }

  /** Models of the accelerator that the request accepts and nodes have; null: none, or all that it accepts. */
  private modelsOn(accelerator: string, { request: { models } }: Shape): ReadonlyArray<string> | null {
    const own = this.modelsOf(accelerator)
    const accepted = models === null ? own : own.filter((model) => models.includes(model))
    return accepted.length === 0 ? null : accepted
  }

  /** Models of nodes that belong to it, sorted. */
  private modelsOf(accelerator: string): ReadonlyArray<string> {
    const { registrations, nodes } = this.cell.fleet
    if (this.models?.registrations !== registrations) {
      const byAccelerator = new Map<string, string[]>()
      for (const model of [...new Set(nodes.map((node) => node.model))].sort()) {
        const name = this.books.units.accelerator(model)
        if (model === null || name === null) continue
        const known = byAccelerator.get(name)
        if (known === undefined) byAccelerator.set(name, [model])
        else known.push(model)
      }
      this.models = { registrations, byAccelerator }
    }
    return this.models.byAccelerator.get(accelerator) ?? []
  }
}
