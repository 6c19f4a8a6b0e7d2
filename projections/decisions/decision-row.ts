import {
  workloadOf,
  type CellDecision,
  type PreemptionDecided,
  type SideStanding,
} from '../../domain/planner/cell-event.ts'
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
  'budget',
  'milli_units',
  'limit_ms',
  'preempted',
  'preemptor',
  'victims',
  'hold_until_ms',
  'idle_since_ms',
  'preemptions',
  'granted',
  'owner',
  'compared',
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
    ...members.map((member) => said[member] ?? absent(member)),
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
  'budget',
  'preemptor',
  'granted',
  'owner',
])

const absent = (member: keyof Members): Json => {
  if (member === 'victims') return []
  if (member === 'compared') return {}
  return isText.has(member) ? '' : null
}

/** Members of a decision that are numbers and have no column of their own, under their own names. */
type Compared = { readonly [name: string]: number }

const saidBy = (decision: CellDecision): Members => {
  switch (decision.type) {
    case 'WorkloadAdmitted': {
      const { alternative, attempt, expectedEndAt, freeMilli, lease, needMilli, score, waitedMs } = decision.data
      const { budget, limitAt, milliUnits, preempted } = decision.data
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
        ...(budget !== undefined && { budget }),
        ...(milliUnits !== undefined && { milli_units: milliUnits, preempted: preempted === true }),
        ...(limitAt !== undefined && { limit_ms: limitAt }),
      }
    }
    case 'WorkloadHeld': {
      const { behind, code, compared, freeMilli, largestMilli, needDevices, needMilli, projectedStartAt } =
        decision.data
      return {
        code,
        behind,
        need_devices: needDevices,
        need_milli: needMilli,
        free_milli: freeMilli,
        largest_milli: largestMilli,
        projected_start_ms: projectedStartAt,
        ...(compared !== undefined && { compared }),
      }
    }
    case 'WorkloadRefused': {
      const { code, largestMilli, needDevices, needMilli } = decision.data
      return { code, need_devices: needDevices, need_milli: needMilli, largest_milli: largestMilli }
    }
    case 'EstimateOverran':
      return { attempt: decision.data.attempt, expected_end_ms: decision.data.expectedEndAt }
    case 'CommandIssued': {
      const { attempt, because, command, deadlineAt, node, preemptor, verb } = decision.data
      return {
        attempt,
        because,
        command,
        deadline_ms: deadlineAt,
        node,
        verb,
        ...(preemptor !== undefined && { preemptor }),
      }
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
    case 'PreemptionDecided':
      return preemption(decision.data)
    case 'LeaseIdled': {
      const { attempt, idleSince, milliUnits } = decision.data
      return { attempt, idle_since_ms: idleSince, milli_units: milliUnits }
    }
    case 'PlaceReleased':
      return { because: decision.data.because }
    case 'GrantLapsed': {
      const { grant, name, owner } = decision.data
      return { because: grant, granted: name, owner }
    }
    case 'BudgetChanged': {
      const { chargedMilliUnitH, creditMilliUnitH, debtMilliUnitH, from, node, owedMilliUnitH, to } = decision.data
      const shares: Compared = { ...(from !== null && { from }), ...(to !== null && { to }) }
      const lapsed: Compared = { chargedMilliUnitH, creditMilliUnitH, debtMilliUnitH, owedMilliUnitH }
      return { budget: node, compared: { ...lapsed, ...shares } }
    }
    case 'WorkloadPromoted':
      return { preemptions: decision.data.preemptions }
    case 'WorkloadCancelled':
      return {}
  }
}

const preemption = (data: PreemptionDecided['data']): Members => {
  const { freedMilli, holdUntil, lease, looked, needMilli, side, victims, victimSide, withoutAt } = data
  return {
    need_devices: lease.reduce((sum, { devices }) => sum + devices.length, 0),
    node: lease[0]?.node ?? '',
    nodes: lease.length,
    projected_start_ms: withoutAt,
    budget: side?.node ?? '',
    milli_units: needMilli,
    victims: victims.map(({ workload }) => workload),
    hold_until_ms: holdUntil,
    compared: { freedMilli, looked, ...standing('side', side), ...standing('victimSide', victimSide) },
  }
}

const standing = (prefix: string, side: SideStanding | null): Compared => {
  if (side === null) return {}
  return {
    [`${prefix}.chargedMilliUnitH`]: side.chargedMilliUnitH,
    [`${prefix}.entitledMilli`]: side.entitledMilli,
    [`${prefix}.heldMilli`]: side.heldMilli,
    [`${prefix}.owedMilliUnitH`]: side.owedMilliUnitH,
  }
}
