import { workloadOf, type CellDecision } from '../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

/** What a decision says beside who decided it, when and about what; a member that its type does not have is null. */
const members = [
  'attempt',
  'code',
  'behind',
  'need_devices',
  'need_milli',
  'free_milli',
  'largest_milli',
  'node',
  'nodes',
  'score',
  'alternative_node',
  'alternative_score',
  'waited_ms',
  'projected_start_ms',
  'expected_end_ms',
  'command',
  'verb',
  'because',
  'deadline_ms',
  'outcome',
  'requeued',
] as const

type Members = { readonly [M in (typeof members)[number]]?: Json }

export const decisionRows: RowTable = {
  table: 'decision_rows',
  columns: ['cell', 'version', 'at_ms', 'type', 'workload', 'rule', ...members, 'causation', 'policy'],
}

export const decisionRow = (event: StoredEvent, decision: CellDecision): Row => {
  const { at, type, data } = decision
  const said = saidBy(decision)
  return [
    event.stream,
    event.position,
    at,
    type,
    workloadOf(decision) ?? '',
    'rule' in data ? data.rule : '',
    ...members.map((member) => said[member] ?? (isText.has(member) ? '' : null)),
    event.causation ?? '',
    event.policy ?? '',
  ]
}

/** Of which the empty text says that there is none. */
const isText: ReadonlySet<string> = new Set<keyof Members>([
  'code',
  'behind',
  'node',
  'alternative_node',
  'command',
  'verb',
  'because',
  'outcome',
])

const saidBy = (decision: CellDecision): Members => {
  switch (decision.type) {
    case 'WorkloadAdmitted': {
      const { alternative, attempt, expectedEndAt, freeMilli, lease, needMilli, score, waitedMs } = decision.data
      return {
        attempt,
        need_devices: lease.reduce((sum, { devices }) => sum + devices.length, 0),
        need_milli: needMilli,
        free_milli: freeMilli,
        node: lease[0]?.node ?? '',
        nodes: lease.length,
        score,
        alternative_node: alternative?.node ?? '',
        alternative_score: alternative?.score ?? null,
        waited_ms: waitedMs,
        expected_end_ms: expectedEndAt,
      }
    }
    case 'WorkloadHeld': {
      const { behind, code, freeMilli, largestMilli, needDevices, needMilli, projectedStartAt } = decision.data
      return {
        code,
        behind,
        need_devices: needDevices,
        need_milli: needMilli,
        free_milli: freeMilli,
        largest_milli: largestMilli,
        projected_start_ms: projectedStartAt,
      }
    }
    case 'WorkloadRefused': {
      const { code, largestMilli, needDevices, needMilli } = decision.data
      return { code, need_devices: needDevices, need_milli: needMilli, largest_milli: largestMilli }
    }
    case 'EstimateOverran':
      return { attempt: decision.data.attempt, expected_end_ms: decision.data.expectedEndAt }
    case 'CommandIssued': {
      const { attempt, because, command, deadlineAt, node, verb } = decision.data
      return { attempt, because, command, deadline_ms: deadlineAt, node, verb }
    }
    case 'AttemptStopped': {
      const { attempt, outcome, requeued } = decision.data
      return { attempt, outcome, requeued }
    }
    case 'LeaseShrunk': {
      const { attempt, keeps } = decision.data
      const need = keeps.reduce((sum, { devices }) => sum + devices.length, 0)
      return { attempt, need_devices: need, node: keeps[0]?.node ?? '', nodes: keeps.length }
    }
    case 'PreemptionDecided': {
      const { lease, needMilli, withoutAt } = decision.data
      const need = lease.reduce((sum, { devices }) => sum + devices.length, 0)
      return {
        need_devices: need,
        need_milli: needMilli,
        node: lease[0]?.node ?? '',
        nodes: lease.length,
        projected_start_ms: withoutAt,
      }
    }
    case 'LeaseIdled':
      return { attempt: decision.data.attempt }
    case 'PlaceReleased':
      return { because: decision.data.because }
    case 'GrantLapsed':
      return { because: decision.data.grant, node: decision.data.name }
    case 'BudgetChanged':
      return { node: decision.data.node }
    case 'WorkloadPromoted':
    case 'WorkloadCancelled':
      return {}
  }
}
