import type { Row, RowTable } from '../rows/row-table.ts'
import { leasedDevices, leasedMilli, type LiveAttempt, type LiveWorkload } from './live-workload.ts'

export const attemptRows: RowTable = {
  table: 'attempt_rows',
  columns: [
    'cell',
    'workload',
    'submission',
    'attempt',
    'class',
    'team',
    'budget',
    'milli_units',
    'resumes',
    'preempted',
    'limit_ms',
    'waited_ms',
    'started_ms',
    'expected_end_ms',
    'ended_ms',
    'outcome',
    'devices',
    'leased_milli',
    'nodes',
    'version',
  ],
}

/** @param ended null while it runs */
export const attemptRow = (
  cell: string,
  live: LiveWorkload,
  attempt: LiveAttempt,
  ended: { readonly at: number; readonly outcome: string } | null,
  version: number,
): Row => [
  cell,
  live.id,
  live.submission,
  attempt.number,
  live.submitted.class,
  live.submitted.team,
  attempt.budget,
  attempt.milliUnits,
  attempt.resumes,
  attempt.preempted,
  attempt.limitAt,
  attempt.waitedMs,
  attempt.startedAt,
  attempt.expectedEndAt,
  ended?.at ?? null,
  ended?.outcome ?? '',
  leasedDevices(attempt.parts),
  leasedMilli(attempt.parts),
  attempt.parts.length,
  version,
]
