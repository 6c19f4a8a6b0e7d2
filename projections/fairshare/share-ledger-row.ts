import type { ShareRow } from '../../domain/budget/share-row.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

/** Amounts of a share row, each beside its column. */
const amounts = [
  ['capacity', 'capacity'],
  ['entitled', 'entitled'],
  ['demand', 'demand'],
  ['owed', 'owed'],
  ['held', 'held'],
  ['charged', 'charged'],
  ['unallocated', 'unallocated'],
  ['over', 'over'],
  ['idleCharged', 'idle_charged'],
  ['debt', 'debt'],
  ['credit', 'credit'],
] as const

export const shareRows: RowTable = {
  table: 'share_rows',
  columns: ['cell', 'node', 'hour_ms', 'policy', ...amounts.map(([, column]) => column), 'device_milli_ms', 'version'],
}

/** @param deviceMilliMs raw device-time, thousandths of a device x ms */
export const shareRow = (cell: string, row: ShareRow, deviceMilliMs: number, version: number): Row => [
  cell,
  row.node,
  row.hour,
  row.version,
  // JSON has no integers as large as these may be.
  ...amounts.map(([amount]) => row[amount].toString()),
  deviceMilliMs,
  version,
]
