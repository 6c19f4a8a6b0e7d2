import type { Column, ViewDefinition } from './definition.ts'
import { at, instant, maybeAt } from './instants.ts'
import {
  demanded,
  end,
  keptMilliMs,
  preemptionKey,
  preemptor,
  rule,
  sides,
  victimColumns,
} from './preemption-tables.ts'

const gpuHour = 3_600_000_000
const unitHourS = 3_600_000

const list = (columns: ReadonlyArray<Column>): string => columns.map(([column]) => column).join(', ')

const course: ReadonlyArray<Column> = [
  at('hold_until_at', 'Until when the place is kept'),
  maybeAt('without_at', 'When it would have started without; NULL: not known'),
  maybeAt('started_at', 'When the workload started next; NULL: it has not'),
  ['start_ms', 'Nullable(Int64)', 'From the decision to that start, ms'],
  maybeAt('over_at', 'Until when the place was kept; NULL: it is'),
  end,
  ['held_ms', 'Nullable(Int64)', 'From the decision until the place was no longer kept, ms; NULL: it is'],
  keptMilliMs,
  ['kept_gpu_hours', 'Nullable(Float64)', 'The same in GPU-hours'],
]
const courseSql = `${instant('hold_until_ms')} AS hold_until_at, ${instant('without_ms')} AS without_at,
  ${instant('started_ms')} AS started_at, started_ms - at_ms AS start_ms, ${instant('over_ms')} AS over_at, end,
  over_ms - at_ms AS held_ms, kept_milli_ms, kept_milli_ms / ${gpuHour} AS kept_gpu_hours`

export const preemptions: ViewDefinition = {
  view: 'preemptions',
  comment: 'Every preemption: for whom, by which rule, how both sides stood, and what it cost',
  columns: [
    ...preemptionKey,
    at('at', 'When it was decided'),
    ...preemptor,
    rule,
    ...demanded,
    ...sides,
    ['loss_milli_unit_s', 'Int64', 'Work that those who stop lose, unit/1000 x s'],
    ['loss_unit_hours', 'Float64', 'The same in unit-hours'],
    ...course,
  ],
  select: `SELECT cell, position, ${instant('at_ms')} AS at, ${list(preemptor)}, rule, ${list(demanded)}, ${list(sides)},
  v.loss_milli_unit_s AS loss_milli_unit_s, v.loss_milli_unit_s / ${unitHourS} AS loss_unit_hours, ${courseSql}
FROM preemption_rows FINAL ANY LEFT JOIN (SELECT cell, position, sum(r.loss_milli_unit_s) AS loss_milli_unit_s
  FROM victim_rows AS r FINAL GROUP BY cell, position) AS v USING (cell, position)`,
}

/** What is the preemption's is in each of its rows: to be added up over `preemptions`. */
export const preemptionLosses: ViewDefinition = {
  view: 'preemption_losses',
  comment: 'Who made room for whom, and what was lost: one row for each running attempt of each preemption',
  columns: [
    ...preemptionKey,
    at('at', 'When it was decided'),
    ...preemptor,
    ...victimColumns,
    ['loss_unit_hours', 'Float64', 'The same in unit-hours'],
    maybeAt('left_at', 'When it had given that back; NULL: it has not'),
    rule,
    ...sides,
    ...course,
  ],
  select: `SELECT cell, position, ${instant('at_ms')} AS at, ${list(preemptor)}, ${list(victimColumns)},
  loss_milli_unit_s / ${unitHourS} AS loss_unit_hours, ${instant('left_ms')} AS left_at, rule, ${list(sides)}, ${courseSql}
FROM victim_rows FINAL ANY LEFT JOIN (SELECT * EXCEPT version FROM preemption_rows FINAL) AS p USING (cell, position)`,
}
