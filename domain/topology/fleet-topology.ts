import type { Fleet, NodeSpec, PlacementPart } from '../fleet/fleet.ts'
import { devicesThatHold, partOn, pickDevices, type DevicePick } from '../fleet/placement.ts'
import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import { nodeLevel } from '../workload/request.ts'
import { DomainRoom } from './domain-room.ts'
import { placeGang } from './gang.ts'
import { LevelTree } from './level-tree.ts'
import { defaultProfile, domainRequestOf, type DomainRequest } from './pod-set.ts'
import type { SliceFault } from './slices.ts'

/** The domain that holds the most devices of a gang. */
export interface LargestDomain {
  /** Null: it may lie in several domains. */
  readonly level: string | null
  /** Names from coarse to fine; null: that of a level that its nodes name no domain of. */
  readonly path: ReadonlyArray<string | null>
  /** Devices of whole slices. */
  readonly devices: number
}

interface Kept {
  readonly room: DomainRoom
  /** Per node, the version that its room was counted at. */
  readonly version: Int32Array
}

/** Room kept per shape, over all shapes: some 24 bytes each. */
const keptDomainsMax = 4_194_304
const keptShapesMax = 512

/** A level that nodes are registered with: their `domain`. */
const registeredLevel = 'domain'

/**
 * Places gangs whose requests name levels. What each domain has room for is kept per shape: where a node has changed,
 * it and the domains above it are counted anew.
 */
export class FleetTopology {
  private readonly fleet: Fleet
  private tree = new LevelTree([nodeLevel], [])
  private nodeAt = new Int32Array(0)
  private readonly kept = new Map<number, Kept>()
  private registrations = -1
  private copies = -1

  constructor(fleet: Fleet) {
    this.fleet = fleet
  }

  /** What keeps such a request from ever being placed as the levels are; null: nothing. */
  faultOf(shape: Shape): SliceFault | null {
    const request = this.requestOf(shape)
    return typeof request === 'string' ? request : null
  }

  /** The parts in order of their paths; null: the devices are not there all at once. */
  place(shape: Shape, pick: DevicePick): ReadonlyArray<PlacementPart> | null {
    const request = this.requestOf(shape)
    if (typeof request === 'string') return null
    const place = placeGang(this.roomNow(shape, request), request.gang)
    if (!place.placed) return null
    return place.shares
      .toSorted((a, b) => a.domain - b.domain)
      .map(({ domain, replicas }) => {
        const node = this.nodeOf(domain)
        return partOn(this.fleet, shape, node, pickDevices(this.fleet, shape, node, replicas, pick))
      })
  }

  holds(shape: Shape): boolean {
    return this.largest(shape).devices >= shape.request.devices
  }

  largest(shape: Shape): LargestDomain {
    const request = this.requestOf(shape)
    if (typeof request === 'string') return nowhere
    return this.largestIn(this.roomNow(shape, request), request)
  }

  /** The same with nothing on the fleet and every node ready. */
  largestWhenEmpty(shape: Shape): LargestDomain {
    const request = this.requestOf(shape)
    if (typeof request === 'string') return nowhere
    const room = new DomainRoom(this.tree, request.slices, false)
    this.fleet.nodes.forEach((spec, node) => {
      room.replicas[this.tree.leafOf[node]!] = this.fleet.accepts(shape, node) ? roomOnEmpty(shape, spec) : 0
    })
    room.count()
    return this.largestIn(room, request)
  }

  private largestIn({ whole }: DomainRoom, { slices, gang }: DomainRequest): LargestDomain {
    const [first, end] = this.tree.domainsOf(gang.mode === 'required' ? gang.level : 0)
    let sum = 0
    let most = -1
    for (let domain = first; domain < end; domain++) {
      sum += whole[domain]!
      if (most < 0 || whole[domain]! > whole[most]!) most = domain
    }
    if (gang.mode !== 'required') return { level: null, path: [], devices: sum * slices.size }
    if (most < 0) return nowhere
    const path = this.tree.path(most).map((name) => (name.startsWith(unnamed) ? null : name))
    return { level: this.tree.levels[gang.level]!, path, devices: whole[most]! * slices.size }
  }

  private requestOf({ request }: Shape): DomainRequest | SliceFault {
    this.refreshTree()
    const { topology, devices } = request
    assert(topology !== undefined && devices > 0, 'the request names levels')
    const { required, preferred, sliceLevel, sliceSize } = topology
    const mode = required !== undefined ? 'required' : preferred !== undefined ? 'preferred' : 'unspecified'
    const layers = sliceLevel === undefined ? [] : [{ level: sliceLevel, size: sliceSize! }]
    const stated = { mode, level: required ?? preferred ?? null, layers } as const
    return domainRequestOf(this.tree, { count: devices, topology: stated }, defaultProfile)
  }

  private refreshTree(): void {
    const { fleet } = this
    if (this.registrations === fleet.registrations) return
    this.registrations = fleet.registrations
    const { levels } = fleet
    this.tree = new LevelTree(
      [...levels, nodeLevel],
      fleet.nodes.map((spec) => [...levels.map((level) => domainOf(spec, level)), spec.node]),
    )
    this.nodeAt = new Int32Array(this.tree.size)
    this.tree.leafOf.forEach((leaf, node) => (this.nodeAt[leaf] = node))
    this.kept.clear()
  }

  private roomNow(shape: Shape, { slices }: DomainRequest): DomainRoom {
    const { fleet, tree } = this
    if (this.copies !== fleet.copies) this.kept.clear()
    this.copies = fleet.copies
    const known = this.kept.get(shape.index)
    if (known !== undefined) return this.mended(shape, known)
    if (this.kept.size >= Math.min(keptShapesMax, keptDomainsMax / tree.size)) this.kept.clear()
    const room = new DomainRoom(tree, slices, false)
    for (let node = 0; node < fleet.nodes.length; node++) room.replicas[tree.leafOf[node]!] = roomOn(fleet, shape, node)
    room.count()
    this.kept.set(shape.index, { room, version: fleet.version.slice(0, fleet.nodes.length) })
    return room
  }

  private mended(shape: Shape, { room, version }: Kept): DomainRoom {
    const { fleet, tree } = this
    for (let node = 0; node < version.length; node++) {
      if (version[node] === fleet.version[node]) continue
      version[node] = fleet.version[node]!
      room.change(tree.leafOf[node]!, roomOn(fleet, shape, node))
    }
    return room
  }

  private nodeOf(leaf: number): number {
    return this.nodeAt[leaf]!
  }
}

/** That of the fleet, made when it is first asked for. */
export const topologyOf = (fleet: Fleet): FleetTopology => (fleet.topology ??= new FleetTopology(fleet))

/** No name begins with it. */
const unnamed = ' '
const nowhere: LargestDomain = { level: null, path: [], devices: 0 }

/** A node that names no domain of a level is a domain of its own there. */
const domainOf = ({ domain, node, topology }: NodeSpec, level: string): string => {
  const named = topology !== undefined && Object.hasOwn(topology, level) ? topology[level] : undefined
  return named ?? (level === registeredLevel ? domain : null) ?? unnamed + node
}

/** Devices of the node that the gang could take, were it larger than it is. */
const roomOn = (fleet: Fleet, shape: Shape, node: number): number => {
  if (!fleet.accepts(shape, node)) return 0
  return hosted(shape, devicesThatHold(fleet, shape, node), fleet.cpuFree[node]!, fleet.hostFree[node]!)
}

const roomOnEmpty = (shape: Shape, { devices, deviceMemoryMib, cpuMilli, hostMemoryMib }: NodeSpec): number => {
  const { memoryMib } = shape.request
  if (memoryMib > 0 && deviceMemoryMib !== null && deviceMemoryMib < memoryMib) return 0
  return hosted(shape, devices, cpuMilli ?? Infinity, hostMemoryMib ?? Infinity)
}

const hosted = ({ request }: Shape, devices: number, cpuFree: number, hostFree: number): number => {
  const { cpuMilli, hostMemoryMib, devices: wanted } = request
  return Math.min(devices, within(cpuMilli, wanted, cpuFree), within(hostMemoryMib, wanted, hostFree))
}

/** Devices whose part of the amount is free. Exact: an amount is below 2^31, devices are at most 1,000,000. */
const within = (amount: number, devices: number, free: number): number =>
  amount === 0 ? Infinity : Math.floor((Math.max(0, free) * devices) / amount)
