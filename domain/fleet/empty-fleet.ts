import { wholeGpu } from '../kernel/units.ts'
import { topologyOf } from '../topology/fleet-topology.ts'
import type { Fleet, NodeSpec } from './fleet.ts'
import { hostedDevices } from './placement.ts'
import type { Shape } from './shape.ts'

/** Whether a request could ever run: what the fleet would hold of it with nothing on it and every node ready. */
export interface EmptyFleetVerdict {
  readonly holds: boolean
  /** Some node's devices are of a model that it accepts. */
  readonly hasModel: boolean
  /** GPU milli of the largest request of its kind that one place of its span would hold. */
  readonly largestMilli: number
}

/** Looks at every node once: ask per shape, not per workload. */
export const emptyFleetVerdict = (fleet: Fleet, shape: Shape): EmptyFleetVerdict => {
  const { devices, span, topology } = shape.request
  if (topology !== undefined) return verdictByLevels(fleet, shape)
  const rooms = new Map<string, number>()
  let hasModel = false
  let largest = 0
  let holds = false
  fleet.nodes.forEach((spec, node) => {
    if (!fleet.accepts(shape, node)) return
    hasModel ||= devices === 0 || spec.devices > 0
    const room = roomOnEmpty(spec, shape)
    const place = span === 'anywhere' ? '' : span === 'domain' && spec.domain !== null ? `d${spec.domain}` : `n${node}`
    const sum = (rooms.get(place) ?? 0) + room.devices
    rooms.set(place, sum)
    largest = Math.max(largest, sum)
    holds ||= devices === 0 ? room.holdsHost : sum >= devices
  })
  return {
    holds,
    hasModel,
    largestMilli: shape.whole ? largest * wholeGpu : Math.min(largest, devices) * shape.request.milli,
  }
}

const verdictByLevels = (fleet: Fleet, shape: Shape): EmptyFleetVerdict => {
  const { devices, milli } = shape.request
  const largest = topologyOf(fleet).largestWhenEmpty(shape).devices
  return {
    holds: largest >= devices,
    hasModel: fleet.nodes.some((spec, node) => spec.devices > 0 && fleet.accepts(shape, node)),
    largestMilli: shape.whole ? largest * wholeGpu : Math.min(largest, devices) * milli,
  }
}

const roomOnEmpty = (spec: NodeSpec, shape: Shape): { readonly devices: number; readonly holdsHost: boolean } => {
  const { cpuMilli, hostMemoryMib, memoryMib, span } = shape.request
  const cpu = spec.cpuMilli ?? Infinity
  const host = spec.hostMemoryMib ?? Infinity
  const holdsHost = cpu >= cpuMilli && host >= hostMemoryMib
  if (memoryMib > 0 && spec.deviceMemoryMib !== null && spec.deviceMemoryMib < memoryMib)
    return { devices: 0, holdsHost }
  if (span === 'node') return { devices: holdsHost ? spec.devices : 0, holdsHost }
  return { devices: hostedDevices(shape, spec.devices, cpu, host), holdsHost }
}
