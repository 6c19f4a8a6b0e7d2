import type { ViewDefinition } from './definition.ts'

const name = 'LowCardinality(String)'
const percents = [50, 90, 99] as const

/**
 * By rule R-7, as `quantileExactInclusive`: at rank (n - 1) x percent / 100 of the sorted values, between the two nearest.
 * In hundredths, so that the ranks are exact: `quantileExactInclusive(0.99)` takes 0.99 for a number that it is not.
 */
const percentile = (sorted: string, percent: number): string => {
  const hundredths = `(length(${sorted}) - 1) * ${percent}`
  const low = `${sorted}[intDiv(${hundredths}, 100) + 1]`
  const high = `${sorted}[least(intDiv(${hundredths}, 100) + 2, length(${sorted}))]`
  return `if(empty(${sorted}), NULL, ${low} + ((${high} - ${low}) * ((${hundredths}) % 100)) / 100)`
}

const figures = (sorted: string, prefix: string): string =>
  [
    `toUInt64(length(${sorted})) AS ${prefix}_count`,
    `arraySum(${sorted}) AS ${prefix}_sum_ms`,
    `if(empty(${sorted}), NULL, arraySum(${sorted}) / length(${sorted})) AS ${prefix}_mean_ms`,
    ...percents.map((percent) => `${percentile(sorted, percent)} AS ${prefix}_p${percent}_ms`),
    `if(empty(${sorted}), NULL, ${sorted}[-1]) AS ${prefix}_max_ms`,
  ].join(',\n  ')

const columns = (prefix: string, of: string) =>
  [
    [`${prefix}_count`, 'UInt64', `Workloads that ${of}`],
    [`${prefix}_sum_ms`, 'Int64', `Sum of their waits, ms`],
    [`${prefix}_mean_ms`, 'Nullable(Float64)', `Mean of their waits, ms; NULL: there are none`],
    ...percents.map(
      (percent) =>
        [
          `${prefix}_p${percent}_ms`,
          'Nullable(Float64)',
          `Percentile ${percent} of their waits, ms; rule R-7`,
        ] as const,
    ),
    [`${prefix}_max_ms`, 'Nullable(Int64)', `Longest of their waits, ms`],
  ] as const

/** @param workloads a query that gives `cell`, `class`, `first_started_ms`, `ended_ms` and the `wait` of each workload, ms */
const waitsOver = (workloads: string): string => `SELECT cell, class, ${figures('s', 'started')},
  ${figures('a', 'all')}, never_started
FROM (
  SELECT cell, class, arraySort(groupArrayIf(wait, isNotNull(first_started_ms))) AS s,
    arraySort(groupArrayIf(wait, isNotNull(first_started_ms) OR isNull(ended_ms))) AS a,
    countIf(isNull(first_started_ms) AND isNotNull(ended_ms)) AS never_started
  FROM (${workloads}) GROUP BY cell, class
)`

/** The same figures as they stood at an instant, ms since 1970, from the view of workloads. */
export const waitsAt = (at: number): string => {
  const untilThen = (column: string): string => {
    const ms = `toUnixTimestamp64Milli(${column})`
    return `if(${ms} <= ${at}, ${ms}, NULL)`
  }
  return waitsOver(`
    SELECT cell, class, ${untilThen('first_started_at')} AS first_started_ms, ${untilThen('ended_at')} AS ended_ms,
      assumeNotNull(ifNull(first_started_ms, least(${at}, toUnixTimestamp64Milli(now_at))) - toUnixTimestamp64Milli(submitted_at)) AS wait
    FROM workloads ANY LEFT JOIN (SELECT cell, now_at FROM cells) AS c USING (cell)
    WHERE toUnixTimestamp64Milli(submitted_at) <= ${at}`)
}

export const waits: ViewDefinition = {
  view: 'waits',
  comment:
    'How long workloads waited for their first start, by class: over those that started, and over those and what still waits, with its wait so far, so that a stuck queue cannot improve the figure',
  columns: [
    ['cell', name, 'Cell, which is a pool: one stream of the log'],
    ['class', name, 'Class of the workloads'],
    ...columns('started', 'have started'),
    ...columns('all', 'have started or still wait'),
    ['never_started', 'UInt64', 'Workloads that were refused, or over before they started: in no figure of waits'],
  ],
  select: waitsOver(`
    SELECT cell, class, first_started_ms, ended_ms,
      assumeNotNull(ifNull(first_started_ms, greatest(now_ms, submitted_ms)) - submitted_ms) AS wait
    FROM workload_rows FINAL ANY LEFT JOIN (SELECT cell, now_ms FROM cell_rows FINAL) AS c USING (cell)`),
}
