import type { Column, ViewDefinition } from './definition.ts'
import { fragmentation, fragmentationNodes } from './fragmentation-views.ts'
import { at, cellNow, instant, maybeAt } from './instants.ts'
import { ladderDaily, ladderHourly } from './ladder-views.ts'
import { preemptionLosses, preemptions } from './preemption-views.ts'
import { projectionsScored } from './projection-view.ts'
import { shareDelivery, shareLedger } from './share-views.ts'
import { waits } from './waits-view.ts'

const name = 'LowCardinality(String)'
const cell: Column = ['cell', name, 'Cell, which is a pool: one stream of the log']
const workload: Column = ['workload', 'String', 'Name of the workload']
const submission: Column = ['submission', 'UInt64', 'Position in the log of its submission: a name may come again']
const kind: Column = ['class', name, 'Class of the workload']
const team: Column = ['team', name, 'Team of the workload']
const queue: Column = ['queue', name, 'Queue of the workload']
const attempt: Column = ['attempt', 'UInt32', 'Number of the attempt, from 1']
const node: Column = ['node', name, 'Name of the node']
const rule: Column = ['rule', name, 'Path into the policy of what bound']
const position: Column = ['position', 'UInt64', 'Position in the log']

const workloads: ViewDefinition = {
  view: 'workloads',
  comment: 'Every workload: what it asked for, what became of it, and how long it waited',
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
    ['state', name, 'waiting, starting, running, stopping, succeeded, failed, refused, cancelled, not-started'],
    ['reason', name, 'Code of the reason why it is held, or was refused; empty: none'],
    ['devices', 'UInt32', 'Devices asked for'],
    ['milli', 'UInt16', 'Thousandths of each device asked for; 0: as much as its memory makes'],
    ['need_milli', 'Int64', 'Thousandths of a device asked for together'],
    ['memory_mib', 'UInt32', 'Memory of each device asked for, MiB'],
    ['cpu_milli', 'UInt32', 'CPU asked for, thousandths of a core, of the whole workload'],
    ['host_memory_mib', 'UInt32', 'Host memory asked for, MiB, of the whole workload'],
    ['models', `Array(${name})`, 'Models of device that will do; empty: any'],
    ['span', name, 'How far its devices may lie apart: node, domain, anywhere'],
    ['estimate_ms', 'Nullable(Int64)', 'How long it says that it runs, ms; NULL: unknown'],
    maybeAt('deadline_at', 'When it is due; NULL: never'),
    at('submitted_at', 'When it was submitted'),
    maybeAt('first_started_at', 'When it first started; NULL: it has not'),
    maybeAt('ended_at', 'When it was over; NULL: it is not'),
    ['wait_ms', 'Nullable(Int64)', 'From submission to first start, or so far, ms; NULL: it was over unstarted'],
    ['attempts', 'UInt32', 'Number of its last attempt; 0: none'],
    ['requeues', 'UInt32', 'How often an attempt was stopped and it waited once more'],
  ],
  select: `SELECT cell, workload, submission, class, queue, team, submitter, budget, model_family, tolerates, state, reason, devices, milli,
  toInt64(devices) * milli AS need_milli, memory_mib, cpu_milli, host_memory_mib, models, span, estimate_ms,
  ${instant('deadline_ms')} AS deadline_at, ${instant('submitted_ms')} AS submitted_at,
  ${instant('first_started_ms')} AS first_started_at, ${instant('ended_ms')} AS ended_at,
  multiIf(first_started_ms IS NOT NULL, first_started_ms - submitted_ms, ended_ms IS NULL,
    greatest(now_ms - submitted_ms, 0), NULL) AS wait_ms, attempts, requeues
FROM workload_rows FINAL ANY LEFT JOIN ${cellNow}`,
}

const attempts: ViewDefinition = {
  view: 'attempts',
  comment: 'Every attempt to run a workload',
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
    maybeAt('limit_at', 'When it has to leave; NULL: it need not'),
    ['waited_ms', 'Int64', 'From the submission to this start, ms'],
    at('started_at', 'When it was given its devices'),
    maybeAt('expected_end_at', 'When it is expected to end; NULL: unknown'),
    maybeAt('ended_at', 'When it ended; NULL: it runs'),
    ['run_ms', 'Int64', 'From its start to its end, or so far, ms'],
    ['outcome', name, 'succeeded, failed, evicted, cancelled, not-started, only-advised; empty: it runs'],
    ['devices', 'UInt32', 'Devices held, at the end or now'],
    ['leased_milli', 'Int64', 'Thousandths of a device held together, at the end or now'],
    ['nodes', 'UInt32', 'Nodes that they lie on'],
  ],
  select: `SELECT cell, workload, submission, attempt, class, team, budget, milli_units, resumes, preempted,
  ${instant('limit_ms')} AS limit_at, waited_ms,
  ${instant('started_ms')} AS started_at, ${instant('expected_end_ms')} AS expected_end_at,
  ${instant('ended_ms')} AS ended_at, ifNull(ended_ms, greatest(now_ms, started_ms)) - started_ms AS run_ms, outcome,
  devices, leased_milli, nodes
FROM attempt_rows FINAL ANY LEFT JOIN ${cellNow}`,
}

const leases: ViewDefinition = {
  view: 'leases',
  comment: 'Devices of one node held by one attempt, from when to when',
  columns: [
    cell,
    workload,
    submission,
    attempt,
    node,
    ['devices', 'Array(UInt16)', 'Indexes of the devices on their node'],
    ['milli', 'UInt16', 'Thousandths held of each of them'],
    ['leased_milli', 'Int64', 'Thousandths of a device held together'],
    ['memory_mib', 'UInt32', 'Memory held of each of them, MiB; 0: not stated'],
    at('from_at', 'Held from'),
    maybeAt('to_at', 'Held until, not included; NULL: still held'),
    ['held_ms', 'Int64', 'How long, or so far, ms'],
  ],
  select: `SELECT cell, workload, submission, attempt, node, devices, milli, toInt64(length(devices)) * milli AS leased_milli,
  memory_mib, ${instant('from_ms')} AS from_at, ${instant('to_ms')} AS to_at,
  ifNull(to_ms, greatest(now_ms, from_ms)) - from_ms AS held_ms
FROM lease_rows FINAL ANY LEFT JOIN ${cellNow}`,
}

const reasons: ViewDefinition = {
  view: 'reasons',
  comment: 'Why workloads were held, from when to when; the numbers compared are in decisions, at the same position',
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
    at('from_at', 'Held for this reason from'),
    maybeAt('to_at', 'Until, not included; NULL: it holds'),
    ['held_ms', 'Int64', 'How long, or so far, ms'],
  ],
  select: `SELECT cell, workload, submission, position, class, queue, code, rule, behind, ${instant('from_ms')} AS from_at,
  ${instant('to_ms')} AS to_at, ifNull(to_ms, greatest(now_ms, from_ms)) - from_ms AS held_ms
FROM reason_rows FINAL ANY LEFT JOIN ${cellNow}`,
}

const commands: ViewDefinition = {
  view: 'commands',
  comment: 'What adapters were asked to do, and what became of it',
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
    at('issued_at', 'When it was issued'),
    at('deadline_at', 'When its outcome is due'),
    maybeAt('concluded_at', 'When its outcome came; NULL: it is open'),
    ['outcome', name, 'done, failed, refused, expired; attempt-ended: none came before its attempt ended; empty: open'],
    ['answer', 'String', 'What the adapter said beside the outcome; empty: nothing'],
    ['latency_ms', 'Nullable(Int64)', 'From issue to outcome, ms; NULL: it is open'],
  ],
  select: `SELECT cell, workload, submission, command, attempt, verb, because, node, preemptor, rule,
  ${instant('issued_ms')} AS issued_at, ${instant('deadline_ms')} AS deadline_at, ${instant('concluded_ms')} AS concluded_at, outcome, answer,
  concluded_ms - issued_ms AS latency_ms
FROM command_rows FINAL`,
}

const decisions: ViewDefinition = {
  view: 'decisions',
  comment: 'Every decision, with the numbers that it compared; NULL: its type has no such number',
  columns: [
    cell,
    position,
    at('at', 'When it was made'),
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
    maybeAt('projected_start_at', 'The latest that it starts if nothing overruns'),
    maybeAt('expected_end_at', 'When it is expected to end'),
    ['command', 'String', 'Id of the command; empty: none'],
    ['verb', name, 'What is asked of the adapter; empty: nothing'],
    [
      'because',
      name,
      'Cause of the command, or why a place is no longer kept, or the kind of grant that lapsed; empty: none',
    ],
    maybeAt('deadline_at', 'When the outcome of the command is due'),
    ['outcome', name, 'How an attempt was stopped: cancelled, evicted, not-started, only-advised; else empty'],
    ['requeued', 'Nullable(Bool)', 'Whether what was stopped waits once more'],
    ['budget', name, 'Node of the budget tree: charged, changed, or on whose side others make room; empty: none'],
    ['milli_units', 'Nullable(Int64)', 'Rate that it is charged or asks for, thousandths of a unit'],
    maybeAt('limit_at', 'When it has to leave'),
    ['preempted', 'Nullable(Bool)', 'Whether others made room for what was admitted'],
    ['preemptor', 'String', 'Workload that the command makes room for; empty: none'],
    ['victims', 'Array(String)', 'Workloads that are to make room'],
    maybeAt('hold_until_at', 'Until when the place is kept'),
    maybeAt('idle_since_at', 'Since when it counts as idle'),
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
  select: `SELECT cell, version AS position, ${instant('at_ms')} AS at, type, workload, rule, attempt, code, behind, need_devices,
  need_milli, free_milli, largest_milli, node, nodes, score, alternative_node, alternative_score, waited_ms,
  ${instant('projected_start_ms')} AS projected_start_at, ${instant('expected_end_ms')} AS expected_end_at, command, verb,
  because, ${instant('deadline_ms')} AS deadline_at, outcome, requeued, budget, milli_units,
  ${instant('limit_ms')} AS limit_at, preempted, preemptor, victims, ${instant('hold_until_ms')} AS hold_until_at,
  ${instant('idle_since_ms')} AS idle_since_at, preemptions, granted, owner, compared, causation, policy
FROM decision_rows FINAL`,
}

const nodes: ViewDefinition = {
  view: 'nodes',
  comment: 'Every node, as it stands',
  columns: [
    cell,
    node,
    ['model', name, 'Model of its devices; empty: any request may take them'],
    ['domain', name, 'Topology domain; empty: none'],
    ['health', name, 'Of the node as a whole: ready, cordoned, draining, failed'],
    ['devices', 'UInt32', 'Devices installed'],
    ['devices_ready', 'UInt32', 'Devices whose own health is ready'],
    ['free_devices', 'Int64', 'Devices that are open to new work and wholly free'],
    ['free_milli', 'Int64', 'Thousandths of a device that are open to new work and free'],
    ['allocated_milli', 'Int64', 'Leased on devices that have not failed, thousandths of a device'],
    ['kept_milli', 'Int64', 'Kept for somebody until others have left, and leased to nobody, thousandths of a device'],
    ['device_memory_mib', 'Nullable(UInt32)', 'Memory of each device, MiB; NULL: not stated'],
    ['cpu_milli', 'Nullable(UInt32)', 'CPU, thousandths of a core; NULL: without limit'],
    ['host_memory_mib', 'Nullable(UInt32)', 'Host memory, MiB; NULL: without limit'],
    at('registered_at', 'When it was registered'),
    at('changed_at', 'When its devices last changed hands or health'),
  ],
  select: `SELECT cell, node, model, domain, health, devices, devices_ready, l.free_devices AS free_devices,
  l.free_milli AS free_milli, l.allocated_milli AS allocated_milli, l.kept_milli AS kept_milli, device_memory_mib, cpu_milli, host_memory_mib,
  ${instant('registered_ms')} AS registered_at, ${instant('l.last_ms')} AS changed_at
FROM node_rows FINAL ANY LEFT JOIN (SELECT cell, node, max(r.at_ms) AS last_ms,
  argMax(r.free_devices, r.at_ms) AS free_devices, argMax(r.schedulable_milli - r.allocated_milli - r.kept_milli, r.at_ms) AS free_milli,
  argMax(r.allocated_milli, r.at_ms) AS allocated_milli, argMax(r.kept_milli, r.at_ms) AS kept_milli
  FROM node_level_rows AS r FINAL GROUP BY cell, node) AS l
USING (cell, node)`,
}

const healthChanges: ViewDefinition = {
  view: 'health_changes',
  comment: 'Every change of health',
  columns: [
    cell,
    position,
    at('at', 'When'),
    node,
    ['device', 'Nullable(UInt16)', 'Index of the device on its node; NULL: the node as a whole'],
    ['health', name, 'ready, cordoned, draining, failed, from then on'],
  ],
  select: `SELECT cell, version AS position, ${instant('at_ms')} AS at, node, device, health FROM health_rows FINAL`,
}

const policies: ViewDefinition = {
  view: 'policies',
  comment: 'Every policy that was activated',
  columns: [
    cell,
    position,
    at('activated_at', 'When it was activated'),
    ['policy', name, 'Hash of the policy'],
    ['name', name, 'Its name'],
    ['owner', name, 'Its owner; empty: none'],
    ['mode', name, 'observe, advise, automate: of pools that state no mode of their own'],
    ['sharing', name, 'Who is next: queues, budgets, kueue, fair-tree, drf'],
    ['strategy', name, 'Where a workload is put'],
    ['queues', `Array(${name})`, 'Its queues, in their order'],
  ],
  select: `SELECT cell, version AS position, ${instant('at_ms')} AS activated_at, policy, name, owner, mode, sharing, strategy, queues
FROM policy_rows FINAL`,
}

const cells: ViewDefinition = {
  view: 'cells',
  comment: 'Every cell, and how far it is projected',
  columns: [
    cell,
    at('first_at', 'When its first event was'),
    at('now_at', 'The latest instant that its events have come to'),
    ['events', 'UInt64', 'Events so far'],
    ['standing', name, 'observe, advise, automate, frozen; no-policy: there is none yet'],
    ['policy', name, 'Hash of the policy in force; empty: none'],
    ['policy_name', name, 'Name of the policy in force; empty: none'],
    position,
  ],
  select: `SELECT cell, ${instant('first_ms')} AS first_at, ${instant('now_ms')} AS now_at, events, standing, policy,
  policy_name, version AS position
FROM cell_rows FINAL`,
}

/** What analysts query: their names and columns stay. */
export const views: ReadonlyArray<ViewDefinition> = [
  workloads,
  attempts,
  leases,
  waits,
  ladderHourly,
  ladderDaily,
  fragmentation,
  fragmentationNodes,
  shareLedger,
  shareDelivery,
  preemptions,
  preemptionLosses,
  decisions,
  reasons,
  projectionsScored,
  commands,
  nodes,
  healthChanges,
  policies,
  cells,
]
