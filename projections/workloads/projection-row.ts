import type { Row, RowTable } from '../rows/row-table.ts'

/** What a workload that is held was told first of when it starts, since it waits. Instants in ms. */
export interface LiveProjection {
  readonly position: number
  readonly workload: string
  readonly submission: number
  readonly class: string
  readonly queue: string
  readonly team: string
  readonly at: number
  readonly expectedWaitMs: number | null
  readonly projectedAt: number | null
  /** Null: it was told no band. */
  readonly from: number | null
  readonly to: number | null
}

export const projectionRows: RowTable = {
  table: 'projection_rows',
  columns: [
    'cell',
    'position',
    'workload',
    'submission',
    'class',
    'queue',
    'team',
    'told_ms',
    'expected_wait_ms',
    'projected_ms',
    'from_ms',
    'to_ms',
    'ended_ms',
    'outcome',
    'version',
  ],
}

/** @param ended null while it waits */
export const projectionRow = (
  cell: string,
  live: LiveProjection,
  ended: { readonly at: number; readonly outcome: string } | null,
  version: number,
): Row => [
  cell,
  live.position,
  live.workload,
  live.submission,
  live.class,
  live.queue,
  live.team,
  live.at,
  live.expectedWaitMs,
  live.projectedAt,
  live.from,
  live.to,
  ended?.at ?? null,
  ended?.outcome ?? '',
  version,
]
