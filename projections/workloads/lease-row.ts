import type { Row, RowTable } from '../rows/row-table.ts'
import type { HeldPart, LiveWorkload } from './live-workload.ts'

export const leaseRows: RowTable = {
  table: 'lease_rows',
  columns: [
    'cell',
    'workload',
    'submission',
    'attempt',
    'node',
    'from_ms',
    'to_ms',
    'devices',
    'milli',
    'memory_mib',
    'version',
  ],
}

/** @param to null while it is held */
export const leaseRow = (
  cell: string,
  live: LiveWorkload,
  attempt: number,
  { part, from }: HeldPart,
  to: number | null,
  version: number,
): Row => [
  cell,
  live.id,
  live.submission,
  attempt,
  part.node,
  from,
  to,
  part.devices,
  part.milli,
  part.memoryMib,
  version,
]
