import { wholeGpu } from '../kernel/units.ts'
import { partOf } from '../workload/request.ts'
import type { Fleet, PlacementPart } from './fleet.ts'
import type { Shape } from './shape.ts'

/** Which of a node's devices a share takes: the first that holds it, the one it leaves least of, or the emptiest. */
export type DevicePick = 'lowest' | 'fullest' | 'emptiest'

/** Thousandths that the request takes of each device of the node: stated, or what its memory makes of the device's. */
export const milliOn = (fleet: Fleet, shape: Shape, node: number): number => {
  const { milli, memoryMib, devices } = shape.request
  if (milli > 0 || devices === 0) return milli
  const deviceMemoryMib = fleet.nodes[node]!.deviceMemoryMib
  return deviceMemoryMib === null ? 1 : Math.max(1, Math.ceil((wholeGpu * memoryMib) / deviceMemoryMib))
}

/** How many devices of the node hold one device's part of the request now; not bounded by CPU or host memory. */
export const devicesThatHold = (fleet: Fleet, shape: Shape, node: number): number => {
  const { memoryMib } = shape.request
  const spec = fleet.nodes[node]!
  if (memoryMib > 0 && spec.deviceMemoryMib !== null && spec.deviceMemoryMib < memoryMib) return 0
  if (shape.whole) return fleet.wholeFree[node]!
  if (fleet.health[node] !== 'ready') return 0
  const milli = milliOn(fleet, shape, node)
  const first = fleet.firstDevice[node]!
  let count = 0
  for (let device = first; device < first + spec.devices; device++)
    if (fleet.usable(device) >= milli && fleet.deviceMemoryFree[device]! >= memoryMib) count++
  return count
}

/** Of so many devices, how many the request would take: as many as it wants and CPU and host memory are there for. */
export const hostedDevices = ({ request }: Shape, devices: number, cpuFree: number, hostFree: number): number => {
  const { cpuMilli, hostMemoryMib, devices: wanted } = request
  let room = Math.min(wanted, devices)
  while (room > 0 && (partOf(cpuMilli, room, wanted) > cpuFree || partOf(hostMemoryMib, room, wanted) > hostFree))
    room--
  return room
}

/** Whether the node holds the whole request now. */
export const fitsNode = (fleet: Fleet, shape: Shape, node: number): boolean => {
  const { cpuMilli, hostMemoryMib, devices } = shape.request
  if (fleet.health[node] !== 'ready' || !fleet.accepts(shape, node)) return false
  if (fleet.cpuFree[node]! < cpuMilli || fleet.hostFree[node]! < hostMemoryMib) return false
  return devices === 0 || devicesThatHold(fleet, shape, node) >= devices
}

/** First node from `from` on, in order of registration, that holds the whole request now; -1 when none does. */
export const nextFit = (fleet: Fleet, shape: Shape, from: number): number => {
  for (let node = fleet.tree.next(from, shape.least); node >= 0; node = fleet.tree.next(node + 1, shape.least))
    if (fitsNode(fleet, shape, node)) return node
  return -1
}

/** The devices of a node that holds `count` of them, as indexes on the node. */
export const pickDevices = (
  fleet: Fleet,
  shape: Shape,
  node: number,
  count: number,
  pick: DevicePick,
): ReadonlyArray<number> => {
  const milli = milliOn(fleet, shape, node)
  const first = fleet.firstDevice[node]!
  const holding: number[] = []
  for (let index = 0; index < fleet.nodes[node]!.devices; index++) {
    const device = first + index
    if (fleet.usable(device) < milli || fleet.deviceMemoryFree[device]! < shape.request.memoryMib) continue
    holding.push(index)
    if (holding.length === count && (shape.whole || pick === 'lowest')) return holding
  }
  if (pick === 'lowest' || shape.whole) return holding.slice(0, count)
  const sign = pick === 'fullest' ? 1 : -1
  holding.sort((a, b) => sign * (fleet.deviceFree[first + a]! - fleet.deviceFree[first + b]!) || a - b)
  return holding.slice(0, count)
}

export const partOn = (fleet: Fleet, shape: Shape, node: number, devices: ReadonlyArray<number>): PlacementPart => ({
  node,
  devices,
  milli: milliOn(fleet, shape, node),
  memoryMib: shape.request.memoryMib,
})

/**
 * GPU milli of the largest placement of the shape's kind that one node could take now: wholly free devices x 1000, or
 * the largest free part of one device. Models count, CPU and host memory do not.
 */
export const largestOnOneNode = (fleet: Fleet, shape: Shape): number => {
  if (shape.request.models === null && shape.request.memoryMib === 0)
    return Math.max(0, shape.whole ? fleet.tree.mostWholeDevices * wholeGpu : fleet.tree.largestMilli)
  let largest = 0
  for (let node = 0; node < fleet.nodes.length; node++) {
    if (!fleet.accepts(shape, node)) continue
    if (shape.whole) largest = Math.max(largest, devicesThatHold(fleet, shape, node) * wholeGpu)
    else largest = Math.max(largest, largestShareOf(fleet, shape, node))
  }
  return largest
}

const largestShareOf = (fleet: Fleet, shape: Shape, node: number): number => {
  if (fleet.health[node] !== 'ready') return 0
  const first = fleet.firstDevice[node]!
  let largest = 0
  for (let device = first; device < first + fleet.nodes[node]!.devices; device++)
    if (fleet.deviceMemoryFree[device]! >= shape.request.memoryMib) largest = Math.max(largest, fleet.usable(device))
  return largest
}
