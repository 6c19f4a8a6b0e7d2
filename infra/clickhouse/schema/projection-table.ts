import type { Column, TableDefinition } from './definition.ts'

const name = 'LowCardinality(String)'

export const projected: ReadonlyArray<Column> = [
  ['cell', name, 'Cell, which is a pool: one stream of the log'],
  ['position', 'UInt64', 'Position in the log of the decision that told it'],
  ['workload', 'String', 'Name of the workload'],
  ['submission', 'UInt64', 'Position in the log of its submission: a name may come again'],
  ['class', name, 'Class of the workload'],
  ['queue', name, 'Queue of the workload'],
  ['team', name, 'Team of the workload'],
]
export const expectedWait: Column = [
  'expected_wait_ms',
  'Nullable(Int64)',
  'What is ahead of it, and itself, at the pace of its leaf, ms; NULL: it has none',
]
export const outcome: Column = [
  'outcome',
  name,
  'Whether it started before, within or behind what it was told; withdrawn: it did not start; empty: it waits',
]

export const projections: TableDefinition = {
  table: 'projection_rows',
  comment: 'What a workload was told first of when it starts, since it waits, and when it did',
  key: '(cell, position)',
  columns: [
    ...projected,
    ['told_ms', 'Int64', 'When it was told, ms since 1970'],
    expectedWait,
    ['projected_ms', 'Nullable(Int64)', 'When it was told to start, ms since 1970; NULL: not told'],
    ['from_ms', 'Nullable(Int64)', 'Not before, four times of five, ms since 1970; NULL: not told'],
    ['to_ms', 'Nullable(Int64)', 'Not later, ms since 1970; NULL: not told'],
    ['ended_ms', 'Nullable(Int64)', 'When it started or was gone, ms since 1970; NULL: it waits'],
    outcome,
    ['version', 'UInt64', 'Position in the log of the event that the row is as of'],
  ],
}
