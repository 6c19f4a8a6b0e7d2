import { wholeGpu, type EpochMs } from '../../domain/kernel/units.ts'
import type { Fleet } from '../../domain/fleet/fleet.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { NodeHealth } from '../../domain/planner/cell-event.ts'
import { onHoldIn } from './queue.ts'

/** Ids of what runs on a node that are named; how many there are is told beside them. */
export const runningNamedMax = 10

/** One node as it stands. GPU in thousandths of a device, memory in MiB; null: without limit, or any model. */
export interface NodeRow {
  readonly node: string
  readonly model: string | null
  readonly domain: string | null
  readonly health: NodeHealth
  readonly devices: number
  /** The devices that are not ready, by index on the node. */
  readonly unready: ReadonlyArray<{ readonly device: number; readonly health: NodeHealth }>
  /** What nobody uses and new work may take: none of a node that is not ready. */
  readonly freeWhole: number
  readonly freeMilli: number
  /** Leased, whatever the health. */
  readonly allocatedMilli: number
  /** Device memory that is not leased, over the devices that new work may take. */
  readonly freeMemoryMib: number | null
  readonly freeCpuMilli: number | null
  readonly freeHostMemoryMib: number | null
  readonly running: number
  /** The first of them, in order of submission. */
  readonly workloads: ReadonlyArray<string>
}

/** Sums over nodes, GPU in thousandths of a device. */
export interface FleetSums {
  readonly nodes: number
  readonly devices: number
  readonly installedMilli: number
  /** On ready devices of ready nodes, free or not. */
  readonly schedulableMilli: number
  readonly allocatedMilli: number
  readonly freeMilli: number
  /** Whole devices x 1000 that one node could give now. */
  readonly largestWholeMilli: number
  /** The largest free part of one device. */
  readonly largestShareMilli: number
  readonly running: number
  /** In a queue: not what is on hold. */
  readonly waiting: number
  readonly onHold: number
}

export interface FleetAnswer {
  readonly at: EpochMs
  readonly cell: string
  /** What the policy lets the pool do. */
  readonly standing: Cell['standing']
  readonly total: FleetSums
  /** In order of registration. */
  readonly nodes: ReadonlyArray<NodeRow>
}

export const fleetOf = (cell: Cell): FleetAnswer => {
  const { fleet } = cell
  const { counts, named, running } = runningByNode(cell)
  const onHold = onHoldIn(cell).length
  const nodes = fleet.nodes.map(({ node }, i) => nodeRow(fleet, i, counts.get(node) ?? 0, named.get(node) ?? []))
  const sum = (of: (row: NodeRow) => number): number => nodes.reduce((total, row) => total + of(row), 0)
  const total = {
    nodes: nodes.length,
    devices: fleet.deviceCount,
    installedMilli: fleet.deviceCount * wholeGpu,
    schedulableMilli:
      wholeGpu * sum(({ devices, health, unready }) => (health === 'ready' ? devices - unready.length : 0)),
    allocatedMilli: sum(({ allocatedMilli }) => allocatedMilli),
    freeMilli: fleet.freeTotal,
    largestWholeMilli: Math.max(0, fleet.tree.mostWholeDevices) * wholeGpu,
    largestShareMilli: Math.max(0, fleet.tree.largestMilli),
    running,
    waiting: cell.workloads.size - running - onHold,
    onHold,
  }
  return { at: cell.now, cell: cell.name, standing: cell.standing, total, nodes }
}

const runningByNode = (cell: Cell) => {
  const counts = new Map<string, number>()
  const named = new Map<string, string[]>()
  let running = 0
  for (const { id, run } of cell.workloads.values()) {
    if (run === null) continue
    running++
    for (const part of run.parts) {
      const { node } = cell.fleet.nodes[part.node]!
      const count = (counts.get(node) ?? 0) + 1
      counts.set(node, count)
      if (count === 1) named.set(node, [id])
      else if (count <= runningNamedMax) named.get(node)!.push(id)
    }
  }
  return { counts, named, running }
}

const nodeRow = (fleet: Fleet, i: number, running: number, workloads: ReadonlyArray<string>): NodeRow => {
  const { node, model, domain, devices } = fleet.nodes[i]!
  const first = fleet.firstDevice[i]!
  const health = fleet.healthOf(i, null)
  const unready: Array<NodeRow['unready'][number]> = []
  let allocatedMilli = 0
  let freeMemoryMib = 0
  for (let device = 0; device < devices; device++) {
    const own = fleet.healthOf(i, device)
    if (own !== 'ready') unready.push({ device, health: own })
    else if (health === 'ready') freeMemoryMib += fleet.deviceMemoryFree[first + device]!
    allocatedMilli += wholeGpu - fleet.deviceFree[first + device]!
  }
  return {
    node,
    model,
    domain,
    health,
    devices,
    unready,
    freeWhole: fleet.wholeFree[i]!,
    freeMilli: fleet.freeMilli[i]!,
    allocatedMilli,
    freeMemoryMib: bounded(freeMemoryMib),
    freeCpuMilli: bounded(fleet.cpuFree[i]!),
    freeHostMemoryMib: bounded(fleet.hostFree[i]!),
    running,
    workloads,
  }
}

const bounded = (amount: number): number | null => (amount === Infinity ? null : amount)
