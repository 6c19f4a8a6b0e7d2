import { assert } from '../kernel/decider.ts'
import { wholeGpu } from '../kernel/units.ts'
import { defaultTopologyLevels } from '../policy/allocation-policy.ts'
import type { LeasePart, NodeHealth, NodeRegistered } from '../planner/cell-event.ts'
import type { FleetTopology } from '../topology/fleet-topology.ts'
import { partOf } from '../workload/request.ts'
import { CapacityTree } from './capacity-tree.ts'
import type { Shape } from './shape.ts'

export type NodeSpec = NodeRegistered['data']

/** A device's health in its column: 0, which a new device has, is ready. */
const healths: ReadonlyArray<NodeHealth> = ['ready', 'cordoned', 'draining', 'failed']

/** Where an attempt would run: the parts of one or more nodes, by node number. */
export interface Placement {
  readonly parts: ReadonlyArray<PlacementPart>
  readonly score: number | null
  readonly alternative: { readonly node: number; readonly score: number } | null
}

export interface PlacementPart {
  readonly node: number
  readonly devices: ReadonlyArray<number>
  readonly milli: number
  readonly memoryMib: number
}

/**
 * Nodes and devices in columns, by number in order of registration. `take` and `give` are exact inverses of each other,
 * so that what a plan tries can be undone.
 */
export class Fleet {
  readonly nodes: NodeSpec[] = []
  private readonly numberOf = new Map<string, number>()
  readonly tree = new CapacityTree()
  /** Per node: index of its first device. */
  firstDevice = new Int32Array(8)
  health: NodeHealth[] = []
  cpuFree = new Float64Array(8)
  hostFree = new Float64Array(8)
  freeMilli = new Int32Array(8)
  wholeFree = new Int32Array(8)
  /** Counts changes of a node: what was worked out for an older count is stale. */
  version = new Int32Array(8)
  /** Per device. */
  deviceFree = new Int32Array(8)
  deviceMemoryFree = new Float64Array(8)
  deviceHealth = new Uint8Array(8)
  deviceCount = 0
  /** GPU milli free on nodes and devices that take new work. */
  freeTotal = 0
  /** GPU milli that nobody holds, on nodes and devices that take no new work. */
  idleOutOfService = 0
  private outMilli = new Int32Array(8)
  wholeTotal = 0
  /** The same by model; null: nodes whose devices any model's request may take. */
  private readonly freeByModel = new Map<string | null, number>()
  /** Counts registrations, and changes of the levels: what an empty fleet can hold depends on nothing else. */
  registrations = 0
  /** Counts what was taken over from another fleet: versions of before say nothing of what is there now. */
  copies = 0
  /** Of the topology, from coarse to fine, above the node. */
  levels = defaultTopologyLevels
  /** Room of the domains; null: not asked for yet. */
  topology: FleetTopology | null = null

  node(name: string): number | undefined {
    return this.numberOf.get(name)
  }

  setLevels(levels: ReadonlyArray<string>): void {
    if (JSON.stringify(levels) === JSON.stringify(this.levels)) return
    this.levels = levels
    this.registrations++
  }

  /** Returns the node's number. */
  register(spec: NodeSpec): number {
    assert(!this.numberOf.has(spec.node), 'a node is registered once')
    const node = this.nodes.length
    this.nodes.push(spec)
    this.numberOf.set(spec.node, node)
    this.health.push('ready')
    this.makeRoom(node + 1, this.deviceCount + spec.devices)
    this.firstDevice[node] = this.deviceCount
    this.cpuFree[node] = spec.cpuMilli ?? Infinity
    this.hostFree[node] = spec.hostMemoryMib ?? Infinity
    for (let device = this.deviceCount; device < this.deviceCount + spec.devices; device++) {
      this.deviceFree[device] = wholeGpu
      this.deviceMemoryFree[device] = spec.deviceMemoryMib ?? Infinity
    }
    this.deviceCount += spec.devices
    this.registrations++
    this.refresh(node)
    return node
  }

  setHealth(node: number, device: number | null, health: NodeHealth): void {
    if (device === null) this.health[node] = health
    else this.deviceHealth[this.firstDevice[node]! + device] = healths.indexOf(health)
    this.refresh(node)
  }

  /** Of the node itself, or of one of its devices. */
  healthOf(node: number, device: number | null): NodeHealth {
    return device === null ? this.health[node]! : healths[this.deviceHealth[this.firstDevice[node]! + device]!]!
  }

  take(shape: Shape, part: PlacementPart): void {
    this.change(shape, part, 1)
  }

  give(shape: Shape, part: PlacementPart): void {
    this.change(shape, part, -1)
  }

  accepts(shape: Shape, node: number): boolean {
    const { models } = shape.request
    if (models === null) return true
    const spec = this.nodes[node]!
    return spec.model === null || models.includes(spec.model)
  }

  /** GPU milli free on devices of the models that the request accepts. */
  freeFor(shape: Shape): number {
    const { models } = shape.request
    if (models === null) return this.freeTotal
    return models.reduce((sum, model) => sum + (this.freeByModel.get(model) ?? 0), this.freeByModel.get(null) ?? 0)
  }

  /** Of nodes with devices; null: one that any model's request may take. */
  get models(): Iterable<string | null> {
    return this.freeByModel.keys()
  }

  /** Free thousandths of a device that a request may take; -1 while the device takes nothing. */
  usable(device: number): number {
    return this.deviceHealth[device] === 0 ? this.deviceFree[device]! : -1
  }

  partNamed(part: PlacementPart): LeasePart {
    return {
      devices: part.devices,
      memoryMib: part.memoryMib,
      milli: part.milli,
      node: this.nodes[part.node]!.node,
    }
  }

  partNumbered(part: LeasePart): PlacementPart {
    const node = this.numberOf.get(part.node)
    assert(node !== undefined, 'a lease names a registered node')
    return { devices: part.devices, memoryMib: part.memoryMib, milli: part.milli, node }
  }

  /** Makes this fleet hold what the other holds; its nodes are taken over, not copied. */
  copyFrom(other: Fleet): void {
    for (let node = this.nodes.length; node < other.nodes.length; node++) this.register(other.nodes[node]!)
    this.setLevels(other.levels)
    this.copies++
    this.health = other.health.slice()
    this.cpuFree.set(other.cpuFree)
    this.hostFree.set(other.hostFree)
    this.freeMilli.set(other.freeMilli)
    this.outMilli.set(other.outMilli)
    this.idleOutOfService = other.idleOutOfService
    this.wholeFree.set(other.wholeFree)
    this.version.set(other.version)
    this.deviceFree.set(other.deviceFree)
    this.deviceMemoryFree.set(other.deviceMemoryFree)
    this.deviceHealth.set(other.deviceHealth)
    this.freeTotal = other.freeTotal
    for (const [model, free] of other.freeByModel) this.freeByModel.set(model, free)
    this.wholeTotal = other.wholeTotal
    this.tree.copyFrom(other.tree)
  }

  private change(shape: Shape, part: PlacementPart, sign: 1 | -1): void {
    const { node, devices, milli, memoryMib } = part
    const { cpuMilli, hostMemoryMib, devices: wanted } = shape.request
    const first = this.firstDevice[node]!
    for (const index of devices) {
      assert(index < this.nodes[node]!.devices, 'a lease names devices that its node has')
      const free = this.deviceFree[first + index]! - sign * milli
      assert(free >= 0 && free <= wholeGpu, 'no thousandth of a device is leased twice')
      this.deviceFree[first + index] = free
      if (memoryMib === 0) continue
      const memoryFree = this.deviceMemoryFree[first + index]! - sign * memoryMib
      assert(memoryFree >= 0, 'no more memory of a device is leased than it has')
      this.deviceMemoryFree[first + index] = memoryFree
    }
    // Where a workload spans nodes, each gives its part of CPU and host memory.
    if (cpuMilli > 0) this.cpuFree[node]! -= sign * partOf(cpuMilli, devices.length, wanted)
    if (hostMemoryMib > 0) this.hostFree[node]! -= sign * partOf(hostMemoryMib, devices.length, wanted)
    this.refresh(node)
  }

  /** Works out a node's sums, and those of the fleet, after a change. */
  private refresh(node: number): void {
    const first = this.firstDevice[node]!
    const end = first + this.nodes[node]!.devices
    const ready = this.health[node] === 'ready'
    let free = 0
    let unheld = 0
    let whole = 0
    let largest = 0
    for (let device = first; device < end; device++) {
      const milli = this.deviceFree[device]!
      unheld += milli
      if (this.deviceHealth[device] !== 0) continue
      free += milli
      if (milli === wholeGpu) whole++
      if (milli > largest) largest = milli
    }
    if (!ready) free = whole = 0
    this.idleOutOfService += unheld - free - this.outMilli[node]!
    this.outMilli[node] = unheld - free
    const rise = free - this.freeMilli[node]!
    if (rise !== 0) {
      const { model } = this.nodes[node]!
      this.freeTotal += rise
      this.freeByModel.set(model, (this.freeByModel.get(model) ?? 0) + rise)
    }
    this.wholeTotal += whole - this.wholeFree[node]!
    this.freeMilli[node] = free
    this.wholeFree[node] = whole
    this.version[node]!++
    if (ready) this.tree.set(node, largest, whole, this.cpuFree[node]!, this.hostFree[node]!)
    else this.tree.set(node, -1, -1, -1, -1)
  }

  private makeRoom(nodes: number, devices: number): void {
    this.tree.grow(nodes)
    if (nodes > this.firstDevice.length) {
      const room = 2 * nodes
      this.firstDevice = grown(this.firstDevice, new Int32Array(room))
      this.cpuFree = grown(this.cpuFree, new Float64Array(room))
      this.hostFree = grown(this.hostFree, new Float64Array(room))
      this.freeMilli = grown(this.freeMilli, new Int32Array(room))
      this.outMilli = grown(this.outMilli, new Int32Array(room))
      this.wholeFree = grown(this.wholeFree, new Int32Array(room))
      this.version = grown(this.version, new Int32Array(room))
    }
    if (devices > this.deviceFree.length) {
      const room = 2 * devices
      this.deviceFree = grown(this.deviceFree, new Int32Array(room))
      this.deviceMemoryFree = grown(this.deviceMemoryFree, new Float64Array(room))
      this.deviceHealth = grown(this.deviceHealth, new Uint8Array(room))
    }
  }
}

const grown = <A extends Int32Array | Float64Array | Uint8Array>(old: A, larger: A): A => {
  larger.set(old)
  return larger
}
