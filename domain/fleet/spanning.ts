import { wholeGpu } from '../kernel/units.ts'
import { topologyOf } from '../topology/fleet-topology.ts'
import type { Fleet, PlacementPart } from './fleet.ts'
import { devicesThatHold, hostedDevices, nextFit, partOn, pickDevices, type DevicePick } from './placement.ts'
import type { Shape } from './shape.ts'

/** Lower is better; equal ranks go by order of registration. Null: in order of registration. */
export type NodeRank = ((node: number) => number) | null

/**
 * Places a gang that may span nodes: `anywhere` takes devices node by node in the order of `rank`, `domain` does so in
 * the domain that has the fewest devices for it and yet enough. One that names levels goes by them, and not by `rank`.
 * Null when they are not there all at once.
 */
export const placeSpanning = (
  fleet: Fleet,
  shape: Shape,
  rank: NodeRank,
  pick: DevicePick,
): ReadonlyArray<PlacementPart> | null => {
  // What sums alone rule out need not be looked for on every node.
  if (shape.whole && fleet.wholeTotal < shape.request.devices) return null
  if (fleet.freeFor(shape) < shape.needMilli) return null
  if (shape.request.topology !== undefined) return topologyOf(fleet).place(shape, pick)
  const nodes = nodesWithRoom(fleet, shape)
  if (rank !== null) nodes.sort((a, b) => rank(a) - rank(b) || a - b)
  if (shape.request.span === 'anywhere') return gather(fleet, shape, nodes, pick)
  const perDomain = byDomain(fleet, nodes)
  const room = (members: ReadonlyArray<number>) => members.reduce((sum, node) => sum + roomOn(fleet, shape, node), 0)
  const fewest = [...perDomain.values()]
    .map((members, order) => ({ members, order, devices: room(members) }))
    .sort((a, b) => a.devices - b.devices || a.order - b.order)
  for (const { members, devices } of fewest) {
    const parts = devices >= shape.request.devices ? gather(fleet, shape, members, pick) : null
    if (parts !== null) return parts
  }
  return null
}

/** Whether the fleet holds the whole request now, at once. */
export const canPlace = (fleet: Fleet, shape: Shape): boolean => {
  const { span, devices, topology } = shape.request
  if (topology !== undefined) return fleet.freeFor(shape) >= shape.needMilli && topologyOf(fleet).holds(shape)
  if (span === 'node' || devices === 0) return nextFit(fleet, shape, 0) >= 0
  if (span === 'anywhere' && isPlain(shape)) return fleet.wholeTotal >= devices
  return placeSpanning(fleet, shape, null, 'lowest') !== null
}

/** GPU milli of the largest gang of this kind that its span could hold now. */
export const largestSpanning = (fleet: Fleet, shape: Shape): number => {
  const each = shape.whole ? wholeGpu : shape.request.milli
  if (shape.request.topology !== undefined) return topologyOf(fleet).largest(shape).devices * each
  if (shape.request.span === 'anywhere' && isPlain(shape)) return fleet.wholeTotal * wholeGpu
  const nodes = nodesWithRoom(fleet, shape)
  const groups = shape.request.span === 'anywhere' ? [nodes] : [...byDomain(fleet, nodes).values()]
  const sums = groups.map((members) => members.reduce((sum, node) => sum + roomOn(fleet, shape, node), 0))
  return sums.reduce((most, sum) => Math.max(most, sum), 0) * each
}

/** Whole devices of any model and nothing else: they need only be counted. */
const isPlain = ({ whole, request }: Shape): boolean =>
  whole && request.cpuMilli === 0 && request.hostMemoryMib === 0 && request.models === null && request.memoryMib === 0

const nodesWithRoom = (fleet: Fleet, shape: Shape): number[] => {
  const least = { ...shape.least, wholeDevices: shape.whole ? 1 : 0, cpuMilli: 0, hostMemoryMib: 0 }
  const nodes: number[] = []
  for (let node = fleet.tree.next(0, least); node >= 0; node = fleet.tree.next(node + 1, least))
    if (roomOn(fleet, shape, node) > 0) nodes.push(node)
  return nodes
}

/** Nodes that name no domain are each a domain of their own. */
const byDomain = (fleet: Fleet, nodes: ReadonlyArray<number>): ReadonlyMap<string, number[]> => {
  const domains = new Map<string, number[]>()
  for (const node of nodes) {
    const { domain, node: name } = fleet.nodes[node]!
    const key = domain === null ? `node ${name}` : `domain ${domain}`
    const members = domains.get(key)
    if (members === undefined) domains.set(key, [node])
    else members.push(node)
  }
  return domains
}

/** Devices of the node that the gang could take, bounded by the CPU and host memory that go with them. */
const roomOn = (fleet: Fleet, shape: Shape, node: number): number => {
  if (!fleet.accepts(shape, node)) return 0
  return hostedDevices(shape, devicesThatHold(fleet, shape, node), fleet.cpuFree[node]!, fleet.hostFree[node]!)
}

const gather = (
  fleet: Fleet,
  shape: Shape,
  nodes: ReadonlyArray<number>,
  pick: DevicePick,
): ReadonlyArray<PlacementPart> | null => {
  const parts: PlacementPart[] = []
  let missing = shape.request.devices
  for (const node of nodes) {
    if (missing === 0) break
    const count = Math.min(missing, roomOn(fleet, shape, node))
    if (count === 0) continue
    parts.push(partOn(fleet, shape, node, pickDevices(fleet, shape, node, count, pick)))
    missing -= count
  }
  return missing === 0 ? parts : null
}
