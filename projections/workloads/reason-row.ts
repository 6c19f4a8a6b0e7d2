import type { Row, RowTable } from '../rows/row-table.ts'
import type { Hold, LiveWorkload } from './live-workload.ts'

export const reasonRows: RowTable = {
  table: 'reason_rows',
  columns: [
    'cell',
    'workload',
    'submission',
    'position',
    'class',
    'queue',
    'code',
    'rule',
    'behind',
    'from_ms',
    'to_ms',
    'version',
  ],
}

/** @param to null while it holds */
export const reasonRow = (cell: string, live: LiveWorkload, hold: Hold, to: number | null, version: number): Row => [
  cell,
  live.id,
  live.submission,
  hold.position,
  live.submitted.class,
  live.submitted.queue,
  hold.code,
  hold.rule,
  hold.behind ?? '',
  hold.from,
  to,
  version,
]
