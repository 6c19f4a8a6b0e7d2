import type { Column, ViewDefinition } from './definition.ts'
import { at, cellNow, instant } from './instants.ts'

const name = 'LowCardinality(String)'
const cell: Column = ['cell', name, 'Cell, which is a pool: one stream of the log']

const until = (by: string) =>
  `leadInFrame(at_ms, 1, greatest(now_ms, at_ms)) OVER (PARTITION BY ${by} ORDER BY at_ms ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) - at_ms AS lasted_ms`

const lasted: Column = ['lasted_ms', 'Int64', 'How long it stood so: until the next row, or the latest event, ms']
const free: ReadonlyArray<Column> = [
  ['installed_milli', 'Int64', 'Installed, thousandths of a device'],
  ['schedulable_milli', 'Int64', 'Schedulable: not failed, and leased or open to new work, thousandths of a device'],
  ['allocated_milli', 'Int64', 'Allocated: leased on devices that have not failed, thousandths of a device'],
  ['kept_milli', 'Int64', 'Kept for somebody until others have left, and leased to nobody, thousandths of a device'],
  ['free_milli', 'Int64', 'Free: schedulable and neither allocated nor kept, thousandths of a device'],
  ['free_devices', 'Int64', 'Devices that are open to new work and wholly free'],
  ['placeable_milli', 'Int64', 'Of what is free, what fits the reference: wholly free devices x 1000'],
  ['stranded_milli', 'Int64', 'Of what is free, the rest: parts of devices that others have the rest of'],
  ['largest_share_milli', 'Int64', 'The largest free part of one device, thousandths'],
]
const memory: ReadonlyArray<Column> = [
  ['memory_mib', 'Int64', 'Device memory installed, MiB, of devices that state it'],
  ['free_memory_mib', 'Nullable(Int64)', 'Of it, what new work may take, MiB; NULL: no device states its memory'],
  [
    'stranded_memory_mib',
    'Nullable(Int64)',
    'Of that, what lies on devices that the reference no longer fits, MiB; NULL: no device states its memory',
  ],
  ['stranded_memory_share', 'Nullable(Float64)', 'Stranded over installed memory; NULL: no device states its memory'],
]
const fgd: ReadonlyArray<Column> = [
  [
    'fgd_milli',
    'Nullable(Float64)',
    'Expected fragmentation: what a request drawn from the mix could not use, thousandths of a device; NULL: no mix',
  ],
  ['fgd_sum', 'Int64', 'The same x the weight of the mix, exact'],
  ['fgd_weight', 'Int64', 'Weight of the mix: how many requests it stands for; 0: there is none'],
]
const reference: Column = ['reference', name, 'The request that placeable and stranded refer to']

const freeSql = `installed_milli, schedulable_milli, allocated_milli, kept_milli,
  schedulable_milli - allocated_milli - kept_milli AS free_milli,
  free_devices, free_devices * 1000 AS placeable_milli, free_milli - placeable_milli AS stranded_milli, largest_share_milli`
const memorySql = `memory_mib, if(memory_mib = 0, NULL, r.free_memory_mib) AS free_memory_mib,
  if(memory_mib = 0, NULL, r.stranded_memory_mib) AS stranded_memory_mib,
  if(memory_mib = 0, NULL, r.stranded_memory_mib / memory_mib) AS stranded_memory_share`
const fgdSql = `if(fgd_weight = 0, NULL, fgd_sum / fgd_weight) AS fgd_milli, fgd_sum, fgd_weight`
const referenceSql = `'one whole device' AS reference`

export const fragmentation: ViewDefinition = {
  view: 'fragmentation',
  comment: 'What is free and what of it can be used, of each cell, after each instant at which something changed',
  columns: [
    cell,
    at('at', 'From when on it stood so'),
    lasted,
    ...free,
    [
      'largest_node_milli',
      'Int64',
      'Largest placeable on one node: wholly free devices of the node that has most x 1000',
    ],
    ['largest_domain_milli', 'Int64', 'Largest placeable in one topology domain, in the same way'],
    ['largest_gang_milli', 'Int64', 'Largest gang of whole nodes: devices of wholly free nodes of one size x 1000'],
    ...memory,
    ...fgd,
    ['waiting', 'Int64', 'Workloads that wait'],
    ['waiting_milli', 'Int64', 'Thousandths of a device that they ask for'],
    ['running', 'Int64', 'Workloads that hold devices, or run without any'],
    reference,
  ],
  select: `SELECT cell, ${instant('at_ms')} AS at, ${until('cell')}, ${freeSql}, largest_node_milli, largest_domain_milli,
  largest_gang_milli, ${memorySql}, ${fgdSql}, waiting, waiting_milli, running, ${referenceSql}
FROM fleet_level_rows AS r FINAL ANY LEFT JOIN ${cellNow}`,
}

export const fragmentationNodes: ViewDefinition = {
  view: 'fragmentation_nodes',
  comment: 'The same of each node, after each instant at which something about it changed',
  columns: [
    cell,
    ['node', name, 'Name of the node'],
    at('at', 'From when on it stood so'),
    lasted,
    ...free,
    ...memory,
    ...fgd,
    reference,
  ],
  select: `SELECT cell, node, ${instant('at_ms')} AS at, ${until('cell, node')}, ${freeSql}, ${memorySql}, ${fgdSql}, ${referenceSql}
FROM node_level_rows AS r FINAL ANY LEFT JOIN ${cellNow}`,
}
