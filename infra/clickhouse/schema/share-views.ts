import type { Column, ViewDefinition } from './definition.ts'
import { at, dayMs, hourMs, instant } from './instants.ts'
import { deviceTime, shareAmounts, shareKey, unitTable } from './share-table.ts'

/** One unit for one hour, in thousandths x ms. */
const unitHour = 1000 * hourMs

const exact = ([amount, comment]: readonly [string, string]): Column => [
  amount,
  'Int128',
  `${comment}; unit/1000 x ms, exact`,
]
const hours = ([amount, comment]: readonly [string, string]): Column => [
  `${amount}_hours`,
  'Float64',
  `${comment}; unit-hours`,
]
const names = shareAmounts.map(([amount]) => amount)

export const shareLedger: ViewDefinition = {
  view: 'share_ledger',
  comment: 'What each node of the budget tree was owed and charged, by hour that has ended, and by policy within it',
  columns: [
    ...shareKey,
    at('hour', 'Beginning of the hour, UTC'),
    unitTable,
    ...shareAmounts.map(exact),
    ...shareAmounts.map(hours),
    deviceTime,
    ['device_hours', 'Float64', 'The same in GPU-hours'],
  ],
  select: `SELECT cell, node, ${instant('hour_ms')} AS hour, policy, ${names.join(', ')},
  ${names.map((amount) => `${amount} / ${unitHour} AS ${amount}_hours`).join(', ')},
  device_milli_ms, device_milli_ms / ${unitHour} AS device_hours
FROM share_rows FINAL`,
}

const summed: ReadonlyArray<readonly [string, string]> = [
  ['entitled', 'What its share came to'],
  ['owed', 'The smaller of demand and entitled, at each instant'],
  ['held', 'Rates of the leases at it and below'],
  ['charged', 'What counts against it'],
]
const sums = summed.map(([amount]) => `sum(s.${amount}) AS ${amount}`).join(', ')
const weekDays = 7

/** Of a day that has no row of a node, the seven days that end with it may have one: until the cell's last day. */
export const shareDelivery: ViewDefinition = {
  view: 'share_delivery',
  comment:
    'How much of what it was owed each node of the budget tree held, by day and by the seven days that end with it',
  columns: [
    ...shareKey,
    ['days', 'UInt8', 'Length of the window in days: 1 or 7'],
    at('from_at', 'Beginning of its first day, UTC'),
    at('to_at', 'End of its last day, not included'),
    ['hours', 'UInt64', 'Hours of it that have a row in share_ledger'],
    ...summed.map(exact),
    ...summed.map(hours),
    ['delivered', 'Nullable(Float64)', 'min(held, owed) / owed over the whole window; NULL: it was owed nothing'],
    ['served', 'Nullable(Float64)', 'charged / owed, by which it is ordered; NULL: it was owed nothing'],
  ],
  select: `SELECT cell, node, days, ${instant(`(day + 1 - days) * ${dayMs}`)} AS from_at, ${instant(`(day + 1) * ${dayMs}`)} AS to_at, hours,
  ${summed.map(([amount]) => amount).join(', ')},
  ${summed.map(([amount]) => `${amount} / ${unitHour} AS ${amount}_hours`).join(', ')},
  if(owed = 0, NULL, least(held, owed) / owed) AS delivered, if(owed = 0, NULL, charged / owed) AS served
FROM (
  SELECT cell, node, window.1 AS days, d.day + window.2 AS day, sum(d.hours) AS hours,
    ${summed.map(([amount]) => `sum(d.${amount}) AS ${amount}`).join(', ')}
  FROM (
    SELECT cell, node, intDiv(hour_ms, ${dayMs}) AS day, uniqExact(hour_ms) AS hours, ${sums}
    FROM share_rows AS s FINAL GROUP BY cell, node, day
  ) AS d
  ANY LEFT JOIN (SELECT cell, intDiv(max(hour_ms), ${dayMs}) AS last FROM share_rows FINAL GROUP BY cell) AS l USING (cell)
  ARRAY JOIN arrayConcat([(1, 0)], arrayMap(ahead -> (${weekDays}, ahead), range(${weekDays}))) AS window
  WHERE d.day + window.2 <= last
  GROUP BY cell, node, days, day
)`,
}
