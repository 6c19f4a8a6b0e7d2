import type { Column, TableDefinition } from './definition.ts'

const name = 'LowCardinality(String)'

/** Of one bucket of the ledger, in milli-units x ms. */
export const shareAmounts: ReadonlyArray<readonly [name: string, comment: string]> = [
  ['capacity', 'Schedulable in the whole cell'],
  ['entitled', 'What its share came to'],
  ['demand', 'Held and waiting, as far as quota and caps allow'],
  ['owed', 'The smaller of demand and entitled, at each instant'],
  ['held', 'Rates of the leases at it and below'],
  ['charged', 'What counts against it'],
  ['unallocated', 'Held beyond entitled while no sibling was behind: charged to nobody, unless idle'],
  ['over', 'Held beyond entitled while a sibling was behind'],
  ['idle_charged', 'Charged only because it made no progress'],
  ['debt', 'Owed less charged where positive, over the window that ends with this hour'],
  ['credit', 'Left unused and not taken back, over the same window, capped'],
]

export const shareKey: ReadonlyArray<Column> = [
  ['cell', name, 'Cell, which is a pool: one stream of the log'],
  ['node', 'String', 'Path of the node of the budget tree; empty: the cell'],
]
export const unitTable: Column = [
  'policy',
  name,
  'Hash of the policy, with its table of units, under which it was counted',
]
export const deviceTime: Column = [
  'device_milli_ms',
  'Int64',
  'Leased at it and below on devices that have not failed: thousandths of a device x ms, exact',
]

export const shares: TableDefinition = {
  table: 'share_rows',
  comment: 'What each node of the budget tree was owed and charged, by hour and policy',
  key: '(cell, hour_ms, policy, node)',
  columns: [
    ...shareKey,
    ['hour_ms', 'Int64', 'Beginning of the hour, ms since 1970'],
    unitTable,
    ...shareAmounts.map(([amount, comment]): Column => [amount, 'Int128', `${comment}; unit/1000 x ms, exact`]),
    deviceTime,
    ['version', 'UInt64', 'Position in the log of the event that the row is as of'],
  ],
}
