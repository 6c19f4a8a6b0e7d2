import type { Column, TableDefinition } from './definition.ts'
import { preemptions, victims } from './preemption-tables.ts'
import { projections } from './projection-table.ts'
import { shares } from './share-table.ts'

const name = 'LowCardinality(String)'
const cell: Column = ['cell', name, 'Cell, which is a pool: one stream of the log']
const version: Column = ['version', 'UInt64', 'Position in the log of the event that the row is as of']
const workload: Column = ['workload', 'String', 'Name of the workload']
const submission: Column = ['submission', 'UInt64', 'Position in the log of its submission: a name may come again']
const kind: Column = ['class', name, 'Class of the workload']
const team: Column = ['team', name, 'Team of the workload']
const queue: Column = ['queue', name, 'Queue of the workload']
const attempt: Column = ['attempt', 'UInt32', 'Number of the attempt, from 1']
const node: Column = ['node', name, 'Name of the node']
const rule: Column = ['rule', name, 'Path into the policy of what bound']

const workloads: TableDefinition = {
  table: 'workload_rows',
  comment: 'Every workload, as it stands',
  key: '(cell, workload, submission)',
  columns: [
    cell,
    workload,
    submission,
    kind,
    queue,
    team,
    ['submitter', name, 'Who submitted it, as they say'],
    ['budget', name, 'Node of the budget tree that it names; empty: its queue says which'],
    ['model_family', name, 'Model family that its drills are by; empty: none'],
    ['tolerates', 'Bool', 'It may be evicted, once a drill was passed'],
    ['span', name, 'How far its devices may lie apart: node, domain, anywhere'],
    ['devices', 'UInt32', 'Devices asked for'],
    ['milli', 'UInt16', 'Thousandths of each device asked for; 0: as much as its memory makes'],
    ['memory_mib', 'UInt32', 'Memory of each device asked for, MiB'],
    ['cpu_milli', 'UInt32', 'CPU asked for, thousandths of a core, of the whole workload'],
    ['host_memory_mib', 'UInt32', 'Host memory asked for, MiB, of the whole workload'],
    ['models', `Array(${name})`, 'Models of device that will do; empty: any'],
    ['estimate_ms', 'Nullable(Int64)', 'How long it says that it runs, ms; NULL: unknown'],
    ['deadline_ms', 'Nullable(Int64)', 'When it is due, ms since 1970; NULL: never'],
    ['submitted_ms', 'Int64', 'When it was submitted, ms since 1970'],
    ['state', name, 'waiting, starting, running, stopping, succeeded, failed, refused, cancelled, not-started'],
    ['reason', name, 'Code of the reason why it is held, or was refused; empty: none'],
    ['attempts', 'UInt32', 'Number of its last attempt; 0: none'],
    ['requeues', 'UInt32', 'How often an attempt was stopped and it waited once more'],
    ['first_started_ms', 'Nullable(Int64)', 'When it first started, ms since 1970; NULL: it has not'],
    ['ended_ms', 'Nullable(Int64)', 'When it was over, ms since 1970; NULL: it is not'],
    version,
  ],
}

const attempts: TableDefinition = {
  table: 'attempt_rows',
  comment: 'Every attempt to run a workload, as it stands',
  key: '(cell, workload, submission, attempt)',
  columns: [
    cell,
    workload,
    submission,
    attempt,
    kind,
    team,
    ['budget', name, 'Node of the budget tree that it is charged to; empty: none'],
    ['milli_units', 'Nullable(Int64)', 'Rate at its start, thousandths of a unit; NULL: it is charged to none'],
    ['resumes', 'Bool', 'It goes on from a checkpoint'],
    ['preempted', 'Bool', 'Others made room for it'],
    ['limit_ms', 'Nullable(Int64)', 'When it has to leave, ms since 1970; NULL: it need not'],
    ['waited_ms', 'Int64', 'From the submission to this start, ms'],
    ['started_ms', 'Int64', 'When it was given its devices, ms since 1970'],
    ['expected_end_ms', 'Nullable(Int64)', 'When it is expected to end, ms since 1970; NULL: unknown'],
    ['ended_ms', 'Nullable(Int64)', 'When it ended, ms since 1970; NULL: it runs'],
    ['outcome', name, 'succeeded, failed, evicted, cancelled, not-started, only-advised; empty: it runs'],
    ['devices', 'UInt32', 'Devices held, at the end or now'],
    ['leased_milli', 'Int64', 'Thousandths of a device held together, at the end or now'],
    ['nodes', 'UInt32', 'Nodes that they lie on'],
    version,
  ],
}

const leases: TableDefinition = {
  table: 'lease_rows',
  comment: 'Devices of one node held by one attempt, from when to when',
  key: '(cell, workload, submission, attempt, node, from_ms)',
  columns: [
    cell,
    workload,
    submission,
    attempt,
    node,
    ['from_ms', 'Int64', 'Held from, ms since 1970'],
    ['to_ms', 'Nullable(Int64)', 'Held until, ms since 1970, not included; NULL: still held'],
    ['devices', 'Array(UInt16)', 'Indexes of the devices on their node'],
    ['milli', 'UInt16', 'Thousandths held of each of them'],
    ['memory_mib', 'UInt32', 'Memory held of each of them, MiB; 0: not stated'],
    version,
  ],
}

const reasons: TableDefinition = {
  table: 'reason_rows',
  comment: 'Why a workload was held, from when to when',
  key: '(cell, workload, submission, position)',
  columns: [
    cell,
    workload,
    submission,
    ['position', 'UInt64', 'Position in the log of the decision to hold it'],
    kind,
    queue,
    ['code', name, 'Code of the reason'],
    rule,
    ['behind', 'String', 'Workload that must start first; empty: none'],
    ['from_ms', 'Int64', 'Held for this reason from, ms since 1970'],
    ['to_ms', 'Nullable(Int64)', 'Until, ms since 1970, not included; NULL: it holds'],
    version,
  ],
}

const commands: TableDefinition = {
  table: 'command_rows',
  comment: 'What adapters were asked to do, and what became of it',
  key: '(cell, workload, submission, command)',
  columns: [
    cell,
    workload,
    submission,
    ['command', 'String', 'Id of the command'],
    attempt,
    ['verb', name, 'start, resume, checkpoint, shrink, evict, cancel'],
    [
      'because',
      name,
      'Cause: admitted, cancel-requested, node-draining, node-failed, start-expired, stop-expired, preempted, time-limit',
    ],
    ['node', name, 'Node that is to be left; empty: none'],
    ['preemptor', 'String', 'Workload that it makes room for; empty: none'],
    rule,
    ['issued_ms', 'Int64', 'When it was issued, ms since 1970'],
    ['deadline_ms', 'Int64', 'When its outcome is due, ms since 1970'],
    ['concluded_ms', 'Nullable(Int64)', 'When its outcome came, ms since 1970; NULL: it is open'],
    ['outcome', name, 'done, failed, refused, expired; attempt-ended: none came before its attempt ended; empty: open'],
    ['answer', 'String', 'What the adapter said beside the outcome; empty: nothing'],
    version,
  ],
}

const decisions: TableDefinition = {
  table: 'decision_rows',
  comment: 'Every decision, with the numbers that it compared; NULL: its type has no such number',
  key: '(cell, version)',
  columns: [
    cell,
    ['version', 'UInt64', 'Position of the decision in the log'],
    ['at_ms', 'Int64', 'When, ms since 1970'],
    ['type', name, 'Type of the event'],
    ['workload', 'String', 'Name of the workload that it is about'],
    rule,
    ['attempt', 'Nullable(UInt32)', 'Number of the attempt'],
    ['code', name, 'Code of the reason, of what is held or refused; else empty'],
    ['behind', 'String', 'Workload that must start first; empty: none'],
    ['need_devices', 'Nullable(UInt32)', 'Devices asked for, given, or kept'],
    ['need_milli', 'Nullable(Int64)', 'Thousandths of a device asked for'],
    ['free_milli', 'Nullable(Int64)', 'Thousandths free in the fleet before, of the models that will do'],
    ['largest_milli', 'Nullable(Int64)', 'The most of its kind that one place could take, thousandths of a device'],
    ['node', name, 'First node of the lease, or the node to be left; empty: none'],
    ['nodes', 'Nullable(UInt32)', 'Nodes of the lease'],
    ['score', 'Nullable(Float64)', 'Score of the place, lower is better; NULL: the strategy has none'],
    ['alternative_node', name, 'The best place that was not taken; empty: none'],
    ['alternative_score', 'Nullable(Float64)', 'Its score'],
    ['waited_ms', 'Nullable(Int64)', 'From the submission to this start, ms'],
    ['projected_start_ms', 'Nullable(Int64)', 'The latest that it starts if nothing overruns, ms since 1970'],
    ['expected_end_ms', 'Nullable(Int64)', 'When it is expected to end, ms since 1970'],
    ['command', 'String', 'Id of the command; empty: none'],
    ['verb', name, 'What is asked of the adapter; empty: nothing'],
    [
      'because',
      name,
      'Cause of the command, or why a place is no longer kept, or the kind of grant that lapsed; empty: none',
    ],
    ['deadline_ms', 'Nullable(Int64)', 'When the outcome of the command is due, ms since 1970'],
    ['outcome', name, 'How an attempt was stopped: cancelled, evicted, not-started, only-advised; else empty'],
    ['requeued', 'Nullable(Bool)', 'Whether what was stopped waits once more'],
    ['budget', name, 'Node of the budget tree: charged, changed, or on whose side others make room; empty: none'],
    ['milli_units', 'Nullable(Int64)', 'Rate that it is charged or asks for, thousandths of a unit'],
    ['limit_ms', 'Nullable(Int64)', 'When it has to leave, ms since 1970'],
    ['preempted', 'Nullable(Bool)', 'Whether others made room for what was admitted'],
    ['preemptor', 'String', 'Workload that the command makes room for; empty: none'],
    ['victims', 'Array(String)', 'Workloads that are to make room'],
    ['hold_until_ms', 'Nullable(Int64)', 'Until when the place is kept, ms since 1970'],
    ['idle_since_ms', 'Nullable(Int64)', 'Since when it counts as idle, ms since 1970'],
    ['preemptions', 'Nullable(UInt32)', 'How often it has made room'],
    ['granted', name, 'Reservation or exception that lapsed; empty: none'],
    ['owner', name, 'Who answers for it; empty: none'],
    [
      'compared',
      'Map(String, Float64)',
      'Further numbers that the decision compared, by name (docs/reasons.md, docs/log.md)',
    ],
    ['causation', 'String', 'Id of the input that it follows from'],
    ['policy', name, 'Hash of the policy in force'],
  ],
}

const nodes: TableDefinition = {
  table: 'node_rows',
  comment: 'Every node, as it stands',
  key: '(cell, node)',
  columns: [
    cell,
    node,
    ['model', name, 'Model of its devices; empty: any request may take them'],
    ['domain', name, 'Topology domain; empty: none'],
    ['devices', 'UInt32', 'Devices installed'],
    ['device_memory_mib', 'Nullable(UInt32)', 'Memory of each device, MiB; NULL: not stated'],
    ['cpu_milli', 'Nullable(UInt32)', 'CPU, thousandths of a core; NULL: without limit'],
    ['host_memory_mib', 'Nullable(UInt32)', 'Host memory, MiB; NULL: without limit'],
    ['registered_ms', 'Int64', 'When it was registered, ms since 1970'],
    ['health', name, 'Of the node as a whole: ready, cordoned, draining, failed'],
    ['devices_ready', 'UInt32', 'Devices whose own health is ready'],
    version,
  ],
}

const health: TableDefinition = {
  table: 'health_rows',
  comment: 'Every change of health',
  key: '(cell, version)',
  columns: [
    cell,
    ['version', 'UInt64', 'Position of the change in the log'],
    ['at_ms', 'Int64', 'When, ms since 1970'],
    node,
    ['device', 'Nullable(UInt16)', 'Index of the device on its node; NULL: the node as a whole'],
    ['health', name, 'ready, cordoned, draining, failed, from then on'],
  ],
}

const levelled: ReadonlyArray<Column> = [
  ['memory_mib', 'Int64', 'Device memory installed, MiB, of devices that state it'],
  ['free_memory_mib', 'Int64', 'Of it, what new work may take, MiB'],
  ['stranded_memory_mib', 'Int64', 'Of that, what lies on devices that a whole-device request no longer fits, MiB'],
  ['fgd_sum', 'Int64', 'Expected fragmentation, thousandths of a device x weight of the mix'],
  ['fgd_weight', 'Int64', 'Weight of the mix: how many requests it stands for; 0: there is none'],
]
const rungs: ReadonlyArray<Column> = [
  ['installed_milli', 'Int64', 'Installed, thousandths of a device'],
  ['schedulable_milli', 'Int64', 'Schedulable: not failed, and leased or open to new work, thousandths of a device'],
  ['allocated_milli', 'Int64', 'Allocated: leased on devices that have not failed, thousandths of a device'],
  ['kept_milli', 'Int64', 'Kept for somebody until others have left, and leased to nobody, thousandths of a device'],
  ['free_devices', 'Int64', 'Devices that are open to new work and wholly free'],
  ['largest_share_milli', 'Int64', 'The largest free part of one device, thousandths'],
]

const nodeLevels: TableDefinition = {
  table: 'node_level_rows',
  comment: 'How a node stands after each instant at which something about it changed',
  key: '(cell, node, at_ms)',
  columns: [cell, node, ['at_ms', 'Int64', 'From when on, ms since 1970'], ...rungs, ...levelled, version],
}

const fleetLevels: TableDefinition = {
  table: 'fleet_level_rows',
  comment: 'How a cell stands after each instant at which something about its fleet or its queues changed',
  key: '(cell, at_ms)',
  columns: [
    cell,
    ['at_ms', 'Int64', 'From when on, ms since 1970'],
    ...rungs,
    ['largest_node_milli', 'Int64', 'Wholly free devices of the node that has most x 1000'],
    ['largest_domain_milli', 'Int64', 'Wholly free devices of the topology domain that has most x 1000'],
    ['largest_gang_milli', 'Int64', 'Devices of wholly free nodes of one size x 1000, of the size that has most'],
    ...levelled,
    ['waiting', 'Int64', 'Workloads that wait'],
    ['waiting_milli', 'Int64', 'Thousandths of a device that they ask for'],
    ['running', 'Int64', 'Workloads that hold devices, or run without any'],
    version,
  ],
}

const cells: TableDefinition = {
  table: 'cell_rows',
  comment: 'Every cell, and how far it is projected',
  key: 'cell',
  columns: [
    cell,
    ['first_ms', 'Int64', 'When its first event was, ms since 1970'],
    ['now_ms', 'Int64', 'The latest instant that its events have come to, ms since 1970'],
    ['events', 'UInt64', 'Events so far'],
    ['standing', name, 'observe, advise, automate, frozen; no-policy: there is none yet'],
    ['policy', name, 'Hash of the policy in force; empty: none'],
    ['policy_name', name, 'Name of the policy in force; empty: none'],
    ['hash', 'String', 'Hash of its last event: what this is a projection of'],
    version,
  ],
}

const policies: TableDefinition = {
  table: 'policy_rows',
  comment: 'Every policy that was activated',
  key: '(cell, version)',
  columns: [
    cell,
    ['version', 'UInt64', 'Position of the activation in the log'],
    ['at_ms', 'Int64', 'When, ms since 1970'],
    ['policy', name, 'Hash of the policy'],
    ['name', name, 'Its name'],
    ['owner', name, 'Its owner; empty: none'],
    ['mode', name, 'observe, advise, automate: of pools that state no mode of their own'],
    ['sharing', name, 'Who is next: queues, budgets, kueue, fair-tree, drf'],
    ['strategy', name, 'Where a workload is put'],
    ['queues', `Array(${name})`, 'Its queues, in their order'],
  ],
}

/** What rows are written into. Rows with the same key replace each other; views read them with FINAL. */
export const tables: ReadonlyArray<TableDefinition> = [
  workloads,
  attempts,
  leases,
  reasons,
  projections,
  commands,
  decisions,
  nodes,
  health,
  nodeLevels,
  fleetLevels,
  shares,
  preemptions,
  victims,
  cells,
  policies,
]
