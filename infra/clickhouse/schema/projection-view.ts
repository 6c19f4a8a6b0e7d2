import type { ViewDefinition } from './definition.ts'
import { at, instant, maybeAt } from './instants.ts'
import { expectedWait, outcome, projected } from './projection-table.ts'

export const projectionsScored: ViewDefinition = {
  view: 'projections_scored',
  comment: 'What workloads were told first of when they start, since they wait, held against when they did',
  columns: [
    ...projected,
    at('told_at', 'When it was told'),
    expectedWait,
    maybeAt('projected_at', 'When it was told to start; NULL: not told'),
    maybeAt('from_at', 'Not before, four times of five; NULL: not told'),
    maybeAt('to_at', 'Not later; NULL: not told'),
    maybeAt('ended_at', 'When it started or was gone; NULL: it waits'),
    ['wait_ms', 'Nullable(Int64)', 'From when it was told to then, ms; NULL: it waits'],
    [
      'late_ms',
      'Nullable(Int64)',
      'So much later than it was told to start, ms; NULL: it has not started, or was not told',
    ],
    outcome,
  ],
  select: `SELECT ${projected.map(([column]) => column).join(', ')}, ${instant('told_ms')} AS told_at, expected_wait_ms,
  ${instant('projected_ms')} AS projected_at, ${instant('from_ms')} AS from_at, ${instant('to_ms')} AS to_at,
  ${instant('ended_ms')} AS ended_at, ended_ms - told_ms AS wait_ms,
  if(outcome = 'withdrawn', NULL, ended_ms - projected_ms) AS late_ms, outcome
FROM projection_rows FINAL`,
}
