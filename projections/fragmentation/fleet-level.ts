import type { FragmentationMeasure } from '../../domain/fleet/fragmentation.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { RowSink } from '../rows/row-sink.ts'
import type { Row, RowTable } from '../rows/row-table.ts'
import { LargestSum } from './largest-sum.ts'
import { nodeLevel, nodeLevelRow, nodeLevelRows, noLevel, type NodeLevel } from './node-level.ts'

export const fleetLevelRows: RowTable = {
  table: 'fleet_level_rows',
  columns: [
    'cell',
    'at_ms',
    'installed_milli',
    'schedulable_milli',
    'allocated_milli',
    'kept_milli',
    'free_devices',
    'largest_share_milli',
    'largest_node_milli',
    'largest_domain_milli',
    'largest_gang_milli',
    'memory_mib',
    'free_memory_mib',
    'stranded_memory_mib',
    'fgd_sum',
    'fgd_weight',
    'waiting',
    'waiting_milli',
    'running',
    'version',
  ],
}

/** Sums over a cell's nodes that are plain additions of theirs. */
const summed = [
  'installedMilli',
  'schedulableMilli',
  'allocatedMilli',
  'keptMilli',
  'freeDevices',
  'memoryMib',
  'freeMemoryMib',
  'strandedMemoryMib',
  'fragmentation',
] as const

/**
 * How a cell's fleet stands after each instant at which something changed: what the ladder and fragmentation are made of.
 * A change costs the nodes that it touches, whatever the size of the fleet; only when the mix that fragmentation is
 * measured against changes are all nodes measured again.
 */
export class FleetLevel {
  waiting = 0
  waitingMilli = 0
  running = 0
  private readonly cell: Cell
  private readonly nodes: NodeLevel[] = []
  private readonly sums = Object.fromEntries(summed.map((name) => [name, 0])) as Record<(typeof summed)[number], number>
  /** Devices that are wholly free, by topology domain. */
  private readonly domains = new LargestSum()
  /** Devices of nodes that are wholly free, by the size of the node. */
  private readonly gangs = new LargestSum()
  private measure: FragmentationMeasure
  /** All nodes are to be measured against the mix as it is now. */
  private isStale = false
  /** Nodes that changed at this instant, each with the position of the last event that changed it. */
  private touched = new Map<number, number>()
  private changedBy = -1

  constructor(cell: Cell) {
    this.cell = cell
    this.measure = cell.fragmentation
  }

  /** Something about this node changed by the event at `position`. */
  touch(node: number, position: number): void {
    this.touched.set(node, position)
    this.changedBy = position
  }

  /** Something about the cell as a whole did: what waits. */
  change(position: number): void {
    this.changedBy = position
  }

  /**
   * The demand seen, or the policy, may have changed the mix. What changed before was measured against the old one: its
   * rows do not depend on where a batch ends.
   */
  followMix(sink: RowSink, position: number): void {
    if (this.cell.fragmentation === this.measure) return
    this.settleNodes(sink)
    this.measure = this.cell.fragmentation
    this.isStale = true
    this.changedBy = position
  }

  /** Puts the rows of the instant that the cell has come to, if anything changed. */
  settle(sink: RowSink): void {
    if (this.changedBy < 0) return
    const { cell } = this
    this.settleNodes(sink)
    if (this.isStale) for (let node = 0; node < this.nodes.length; node++) this.renew(node)
    this.isStale = false
    sink.put(fleetLevelRows, `${cell.name} ${cell.now}`, this.row())
    this.changedBy = -1
  }

  private settleNodes(sink: RowSink): void {
    const { cell } = this
    for (const [node, position] of this.touched) {
      const level = this.renew(node)
      const name = cell.fleet.nodes[node]!.node
      const row = nodeLevelRow(cell.name, name, cell.now, level, this.measure.weight, position)
      sink.put(nodeLevelRows, `${cell.name} ${node} ${cell.now}`, row)
    }
    this.touched = new Map()
  }

  private row(): Row {
    const { cell, sums } = this
    return [
      cell.name,
      cell.now,
      sums.installedMilli,
      sums.schedulableMilli,
      sums.allocatedMilli,
      sums.keptMilli,
      sums.freeDevices,
      Math.max(0, cell.fleet.tree.largestMilli),
      Math.max(0, cell.fleet.tree.mostWholeDevices) * wholeGpu,
      Math.max(this.domains.largest, cell.fleet.tree.mostWholeDevices) * wholeGpu,
      this.gangs.largest * wholeGpu,
      sums.memoryMib,
      sums.freeMemoryMib,
      sums.strandedMemoryMib,
      sums.fragmentation,
      this.measure.weight,
      this.waiting,
      this.waitingMilli,
      this.running,
      this.changedBy,
    ]
  }

  /** What a place keeps is taken in the fleet, too, and leased to nobody. */
  private leasedOn(node: number): ReadonlyArray<number> {
    const leased: number[] = []
    for (const { run } of this.cell.runningOn(node))
      for (const part of run!.parts)
        if (part.node === node) for (const device of part.devices) leased[device] = (leased[device] ?? 0) + part.milli
    return leased
  }

  private renew(node: number): NodeLevel {
    const { fleet } = this.cell
    const before = this.nodes[node] ?? noLevel
    const after = nodeLevel(fleet, node, this.leasedOn(node), this.measure)
    this.nodes[node] = after
    for (const name of summed) this.sums[name] += after[name] - before[name]
    const { devices, domain } = fleet.nodes[node]!
    if (domain !== null) this.domains.add(domain, after.freeDevices - before.freeDevices)
    const whole = (level: NodeLevel) => (devices > 0 && level.freeDevices === devices ? devices : 0)
    this.gangs.add(devices, whole(after) - whole(before))
    return after
  }
}
