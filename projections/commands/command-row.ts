import type { Row, RowTable } from '../rows/row-table.ts'
import type { LiveWorkload, OpenCommandRow } from '../workloads/live-workload.ts'

export const commandRows: RowTable = {
  table: 'command_rows',
  columns: [
    'cell',
    'workload',
    'submission',
    'command',
    'attempt',
    'verb',
    'because',
    'node',
    'preemptor',
    'rule',
    'issued_ms',
    'deadline_ms',
    'concluded_ms',
    'outcome',
    'answer',
    'version',
  ],
}

/** What became of a command. `attempt-ended`: nothing; its attempt ended before an outcome came. */
export interface Conclusion {
  readonly at: number
  readonly outcome: 'done' | 'failed' | 'refused' | 'expired' | 'attempt-ended'
  readonly answer: string | null
}

/** @param concluded null while it is open */
export const commandRow = (
  cell: string,
  live: LiveWorkload,
  open: OpenCommandRow,
  concluded: Conclusion | null,
  version: number,
): Row => [
  cell,
  live.id,
  live.submission,
  open.command,
  open.attempt,
  open.verb,
  open.because,
  open.node ?? '',
  open.preemptor ?? '',
  open.rule,
  open.issuedAt,
  open.deadlineAt,
  concluded?.at ?? null,
  concluded?.outcome ?? '',
  concluded?.answer ?? '',
  version,
]
