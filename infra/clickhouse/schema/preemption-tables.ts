import type { Column, TableDefinition } from './definition.ts'

const name = 'LowCardinality(String)'

export const preemptionKey: ReadonlyArray<Column> = [
  ['cell', name, 'Cell, which is a pool: one stream of the log'],
  ['position', 'UInt64', 'Position in the log of the decision'],
]

const side = (prefix: string, whose: string): ReadonlyArray<Column> => [
  [`${prefix}_node`, 'String', `${whose}: its node where the two paths part; empty: none`],
  [`${prefix}_entitled_milli`, 'Nullable(Int64)', `${whose}: entitled to, thousandths of a unit`],
  [`${prefix}_held_milli`, 'Nullable(Int64)', `${whose}: held, thousandths of a unit`],
  [`${prefix}_owed_milli_h`, 'Nullable(Int64)', `${whose}: owed over the window, unit/1000 x h`],
  [`${prefix}_charged_milli_h`, 'Nullable(Int64)', `${whose}: charged over the window, unit/1000 x h`],
]

/** Who was started, by which rule, and how both sides stood. */
export const preemptor: ReadonlyArray<Column> = [
  ['workload', 'String', 'Workload that others make room for'],
  ['submission', 'UInt64', 'Position in the log of its submission'],
  ['class', name, 'Class of the workload'],
  ['team', name, 'Team of the workload'],
  ['budget', 'String', 'Node of the budget tree at which it waits; empty: none'],
]

export const sides: ReadonlyArray<Column> = [
  ...side('side', 'Side of the workload'),
  ...side('victim_side', 'Side of those who make room'),
]

export const demanded: ReadonlyArray<Column> = [
  ['need_milli_units', 'Int64', 'Rate of the workload, thousandths of a unit'],
  ['freed_milli_units', 'Int64', 'Rate that is given back, thousandths of a unit'],
  ['victims', 'UInt32', 'Running attempts that make room'],
  ['looked', 'UInt32', 'Running attempts that were looked at'],
  ['devices', 'UInt32', 'Devices of the place that is kept'],
]

export const end: Column = [
  'end',
  name,
  'Why the place is no longer kept: started, expired, lost, blocked, withdrawn, on-hold, cancelled, refused; empty: it is',
]
export const keptMilliMs: Column = [
  'kept_milli_ms',
  'Nullable(Int64)',
  'Device-time that the place kept idle, thousandths of a device x ms, exact; NULL: it is still kept',
]
export const rule: Column = ['rule', name, 'Path into the policy of what bound']

const version: Column = ['version', 'UInt64', 'Position in the log of the event that the row is as of']

export const preemptions: TableDefinition = {
  table: 'preemption_rows',
  comment: 'Every preemption, as it stands',
  key: '(cell, position)',
  columns: [
    ...preemptionKey,
    ...preemptor,
    ['at_ms', 'Int64', 'When it was decided, ms since 1970'],
    rule,
    ...demanded,
    ['hold_until_ms', 'Int64', 'Until when the place is kept, ms since 1970'],
    ['without_ms', 'Nullable(Int64)', 'When it would have started without, ms since 1970; NULL: not known'],
    ...sides,
    ['started_ms', 'Nullable(Int64)', 'When the workload started next, ms since 1970; NULL: it has not'],
    ['over_ms', 'Nullable(Int64)', 'Until when the place was kept, ms since 1970; NULL: it is'],
    end,
    keptMilliMs,
    version,
  ],
}

export const victimColumns: ReadonlyArray<Column> = [
  ['victim', 'String', 'Workload that makes room'],
  ['victim_submission', 'UInt64', 'Position in the log of its submission'],
  ['victim_attempt', 'UInt32', 'Number of its attempt'],
  ['victim_class', name, 'Its class'],
  ['victim_team', name, 'Its team'],
  ['victim_budget', 'String', 'Node of the budget tree that it is charged to; empty: none'],
  ['asked', name, 'What it is asked: evict, shrink'],
  ['kept_devices', 'UInt32', 'Devices that it keeps; 0: none, it stops'],
  ['milli_units', 'Int64', 'Rate that it gives back, thousandths of a unit'],
  ['loss_milli_unit_s', 'Int64', 'Work since its last observed checkpoint, unit/1000 x s, rounded up'],
]

export const victims: TableDefinition = {
  table: 'victim_rows',
  comment: 'Every running attempt that was asked to make room, as it stands',
  key: '(cell, position, victim)',
  columns: [
    ...preemptionKey,
    ...victimColumns,
    ['left_ms', 'Nullable(Int64)', 'When it had given that back, ms since 1970; NULL: it has not'],
    version,
  ],
}
