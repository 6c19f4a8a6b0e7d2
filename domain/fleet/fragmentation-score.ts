import type { Fleet } from './fleet.ts'
import { scoreStepMilli, type FragmentationMeasure } from './fragmentation.ts'
import { fitsNode, milliOn, pickDevices } from './placement.ts'
import type { Shape } from './shape.ts'

/** The least rise of the node's expected fragmentation that the request can cause there, in steps. */
export const fragmentationScore = (fleet: Fleet, measure: FragmentationMeasure, shape: Shape, node: number): number => {
  if (!fitsNode(fleet, shape, node)) return Infinity
  const first = fleet.firstDevice[node]!
  const count = fleet.nodes[node]!.devices
  measure.withCpu(fleet.cpuFree[node]!)
  const before = measure.of(fleet.deviceFree, first, count)
  const { devices, cpuMilli } = shape.request
  if (cpuMilli > 0) measure.withCpu(fleet.cpuFree[node]! - cpuMilli)
  const after =
    devices === 0
      ? measure.of(fleet.deviceFree, first, count)
      : devices === 1
        ? leastWithOne(fleet, measure, shape, node).measured
        : measure.of(freeWithSeveral(fleet, shape, node), 0, count)
  return Math.floor((after - before) / (measure.weight * scoreStepMilli))
}

/** The devices by which the request causes that least rise. */
export const leastFragmentingDevices = (
  fleet: Fleet,
  measure: FragmentationMeasure,
  shape: Shape,
  node: number,
): ReadonlyArray<number> => {
  if (shape.request.devices !== 1) return several(fleet, shape, node)
  measure.withCpu(fleet.cpuFree[node]! - shape.request.cpuMilli)
  return [leastWithOne(fleet, measure, shape, node).device]
}

/** At the CPU last given to the measure, which is that after the placement. */
const leastWithOne = (fleet: Fleet, measure: FragmentationMeasure, shape: Shape, node: number) => {
  const first = fleet.firstDevice[node]!
  const count = fleet.nodes[node]!.devices
  const milli = milliOn(fleet, shape, node)
  let device = -1
  let least = Infinity
  for (let index = 0; index < count; index++) {
    const free = fleet.usable(first + index)
    if (free < milli || fleet.deviceMemoryFree[first + index]! < shape.request.memoryMib) continue
    if (index > 0 && alike(fleet, first, index)) continue
    const measured = measure.of(fleet.deviceFree, first, count, index, 1, free - milli)
    if (measured >= least) continue
    least = measured
    device = index
  }
  return { device, measured: least }
}

/** Whether an earlier device of the node is just like this one: then it is at least as good. */
const alike = (fleet: Fleet, first: number, index: number): boolean => {
  for (let earlier = first; earlier < first + index; earlier++)
    if (
      fleet.deviceFree[earlier] === fleet.deviceFree[first + index] &&
      fleet.deviceMemoryFree[earlier] === fleet.deviceMemoryFree[first + index] &&
      fleet.deviceHealth[earlier] === fleet.deviceHealth[first + index]
    )
      return true
  return false
}

const several = (fleet: Fleet, shape: Shape, node: number): ReadonlyArray<number> =>
  pickDevices(fleet, shape, node, shape.request.devices, shape.whole ? 'lowest' : 'fullest')

const freeWithSeveral = (fleet: Fleet, shape: Shape, node: number): Int32Array => {
  const first = fleet.firstDevice[node]!
  const free = fleet.deviceFree.slice(first, first + fleet.nodes[node]!.devices)
  for (const index of several(fleet, shape, node)) free[index]! -= milliOn(fleet, shape, node)
  return free
}
