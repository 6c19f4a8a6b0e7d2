import type { Column, ViewDefinition } from './definition.ts'
import { at, calendarEndMs, cellNow, dayMs, hourMs, instant } from './instants.ts'

const rungs = ['installed', 'schedulable', 'allocated'] as const

const meaning = {
  installed: 'Installed',
  schedulable: 'Schedulable: not failed, and leased or open to new work',
  allocated: 'Allocated: leased on devices that have not failed',
} as const

/** One GPU for one hour, in thousandths x ms. */
const gpuHour = 1000 * hourMs

const columns = (window: Column): ReadonlyArray<Column> => [
  ['cell', 'LowCardinality(String)', 'Cell, which is a pool: one stream of the log'],
  window,
  ['covered_ms', 'Int64', 'How long something was installed in this window, ms'],
  ...rungs.map((rung): Column => [
    `${rung}_milli_ms`,
    'Int64',
    `${meaning[rung]}; thousandths of a device x ms, exact`,
  ]),
  ...rungs.map((rung): Column => [`${rung}_gpu_hours`, 'Float64', `${meaning[rung]}; GPU-hours`]),
]

/**
 * Each level lasts until the next one, the last until the cell's latest event, and is split at the hours: whatever is
 * installed is in one hour and in no two. Hours in which nothing is installed have no row.
 */
const levels = `SELECT cell, at_ms, installed_milli, schedulable_milli, allocated_milli,
    least(leadInFrame(at_ms, 1, now_ms) OVER (PARTITION BY cell ORDER BY at_ms ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
      ${calendarEndMs}) AS to_ms
  FROM fleet_level_rows FINAL ANY LEFT JOIN ${cellNow}`

const sums = (length: string) =>
  [
    `toInt64(sum(${length})) AS covered_ms`,
    ...rungs.map((rung) => `sum(${rung}_milli * ${length}) AS ${rung}_milli_ms`),
  ].join(', ')
const hours = rungs.map((rung) => `${rung}_milli_ms / ${gpuHour} AS ${rung}_gpu_hours`).join(', ')
const names = rungs.map((rung) => `${rung}_milli_ms`).join(', ')

export const ladderHourly: ViewDefinition = {
  view: 'ladder_hourly',
  comment: 'The ladder by hour, each from its beginning to the next, not included; the last ends at the latest event',
  columns: columns(at('hour_at', 'Beginning of the hour')),
  select: `SELECT cell, ${instant('hour_ms')} AS hour_at, covered_ms, ${names}, ${hours}
FROM (
  SELECT cell, hour * ${hourMs} AS hour_ms,
    ${sums(`(least(to_ms, (hour + 1) * ${hourMs}) - greatest(at_ms, hour * ${hourMs}))`)}
  FROM (SELECT * FROM (${levels}) WHERE installed_milli > 0 AND to_ms > at_ms)
  ARRAY JOIN range(intDiv(at_ms, ${hourMs}), intDiv(to_ms + ${hourMs - 1}, ${hourMs})) AS hour
  GROUP BY cell, hour
)`,
}

export const ladderDaily: ViewDefinition = {
  view: 'ladder_daily',
  comment: 'The ladder by day in UTC: the sum of its hours',
  columns: columns(at('day_at', 'Beginning of the day')),
  select: `SELECT cell, ${instant('day_ms')} AS day_at, covered_ms, ${names}, ${hours}
FROM (
  SELECT cell, intDiv(toUnixTimestamp64Milli(hour_at), ${dayMs}) * ${dayMs} AS day_ms, sum(h.covered_ms) AS covered_ms,
    ${rungs.map((rung) => `sum(h.${rung}_milli_ms) AS ${rung}_milli_ms`).join(', ')}
  FROM ladder_hourly AS h GROUP BY cell, day_ms
)`,
}
