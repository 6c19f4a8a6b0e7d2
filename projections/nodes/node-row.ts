import type { Fleet } from '../../domain/fleet/fleet.ts'
import type { NodeHealthChanged } from '../../domain/planner/cell-event.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

export const nodeRows: RowTable = {
  table: 'node_rows',
  columns: [
    'cell',
    'node',
    'model',
    'domain',
    'devices',
    'device_memory_mib',
    'cpu_milli',
    'host_memory_mib',
    'registered_ms',
    'health',
    'devices_ready',
    'version',
  ],
}

export const nodeRow = (cell: string, fleet: Fleet, node: number, registeredAt: number, version: number): Row => {
  const spec = fleet.nodes[node]!
  const first = fleet.firstDevice[node]!
  let ready = 0
  for (let device = first; device < first + spec.devices; device++) if (fleet.deviceHealth[device] === 0) ready++
  return [
    cell,
    spec.node,
    spec.model ?? '',
    spec.domain ?? '',
    spec.devices,
    spec.deviceMemoryMib,
    spec.cpuMilli,
    spec.hostMemoryMib,
    registeredAt,
    fleet.healthOf(node, null),
    ready,
    version,
  ]
}

export const healthRows: RowTable = {
  table: 'health_rows',
  columns: ['cell', 'version', 'at_ms', 'node', 'device', 'health'],
}

export const healthRow = (cell: string, { at, data }: NodeHealthChanged, version: number): Row => [
  cell,
  version,
  at,
  data.node,
  data.device,
  data.health,
]
