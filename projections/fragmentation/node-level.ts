import type { Fleet } from '../../domain/fleet/fleet.ts'
import type { FragmentationMeasure } from '../../domain/fleet/fragmentation.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

/**
 * How one node stands. A failed device is not schedulable, lease or no lease; of one that takes nothing new, only what is
 * leased is. What is free of the others is stranded where a whole device, the reference request, no longer fits.
 */
export interface NodeLevel {
  readonly installedMilli: number
  readonly schedulableMilli: number
  readonly allocatedMilli: number
  /** Of devices that take new work: kept for somebody until others have left, and leased to nobody. */
  readonly keptMilli: number
  /** Devices that take new work and are wholly free. */
  readonly freeDevices: number
  /** The largest free part of one of them. */
  readonly largestShareMilli: number
  /** Of devices that state their memory. */
  readonly memoryMib: number
  readonly freeMemoryMib: number
  readonly strandedMemoryMib: number
  /** Expected fragmentation, in thousandths x the weight of the mix. */
  readonly fragmentation: number
}

export const noLevel: NodeLevel = {
  installedMilli: 0,
  schedulableMilli: 0,
  allocatedMilli: 0,
  keptMilli: 0,
  freeDevices: 0,
  largestShareMilli: 0,
  memoryMib: 0,
  freeMemoryMib: 0,
  strandedMemoryMib: 0,
  fragmentation: 0,
}

/** @param leased thousandths of each of its devices that leases hold */
export const nodeLevel = (
  fleet: Fleet,
  node: number,
  leased: ReadonlyArray<number>,
  measure: FragmentationMeasure,
): NodeLevel => {
  const { devices, deviceMemoryMib } = fleet.nodes[node]!
  const health = fleet.healthOf(node, null)
  const open = new Int32Array(devices)
  let schedulableMilli = 0
  let allocatedMilli = 0
  let keptMilli = 0
  let freeDevices = 0
  let largestShareMilli = 0
  let freeMemoryMib = 0
  let strandedMemoryMib = 0
  for (let i = 0; i < devices; i++) {
    const device = fleet.firstDevice[node]! + i
    const own = fleet.deviceHealth[device]
    const free = fleet.deviceFree[device]!
    if (health === 'failed' || own === failed) continue
    const held = leased[i] ?? 0
    allocatedMilli += held
    schedulableMilli += held
    if (health !== 'ready' || own !== ready) continue
    open[i] = free
    keptMilli += wholeGpu - free - held
    schedulableMilli += wholeGpu - held
    if (free === wholeGpu) freeDevices++
    if (free > largestShareMilli) largestShareMilli = free
    if (deviceMemoryMib === null) continue
    // Of a share without stated memory, its part of the device's.
    const memory = Math.min(fleet.deviceMemoryFree[device]!, Math.floor((free * deviceMemoryMib) / wholeGpu))
    freeMemoryMib += memory
    if (memory < deviceMemoryMib) strandedMemoryMib += memory
  }
  return {
    installedMilli: devices * wholeGpu,
    schedulableMilli,
    allocatedMilli,
    keptMilli,
    freeDevices,
    largestShareMilli,
    memoryMib: devices * (deviceMemoryMib ?? 0),
    freeMemoryMib,
    strandedMemoryMib,
    fragmentation: expectedFragmentation(measure, fleet.cpuFree[node]!, open),
  }
}

/** As the fleet's column of device health has them. */
const ready = 0
const failed = 3

const expectedFragmentation = (measure: FragmentationMeasure, cpuFree: number, open: Int32Array): number => {
  measure.withCpu(cpuFree)
  return measure.of(open, 0, open.length)
}

export const nodeLevelRows: RowTable = {
  table: 'node_level_rows',
  columns: [
    'cell',
    'node',
    'at_ms',
    'installed_milli',
    'schedulable_milli',
    'allocated_milli',
    'kept_milli',
    'free_devices',
    'largest_share_milli',
    'memory_mib',
    'free_memory_mib',
    'stranded_memory_mib',
    'fgd_sum',
    'fgd_weight',
    'version',
  ],
}

export const nodeLevelRow = (
  cell: string,
  node: string,
  at: number,
  level: NodeLevel,
  weight: number,
  version: number,
): Row => [
  cell,
  node,
  at,
  level.installedMilli,
  level.schedulableMilli,
  level.allocatedMilli,
  level.keptMilli,
  level.freeDevices,
  level.largestShareMilli,
  level.memoryMib,
  level.freeMemoryMib,
  level.strandedMemoryMib,
  level.fragmentation,
  weight,
  version,
]
