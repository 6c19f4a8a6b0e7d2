import type { PreemptionDecided, SideStanding } from '../../domain/planner/cell-event.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

/** A preemption and what has become of it. Instants in ms. */
export interface LivePreemption {
  readonly position: number
  readonly at: number
  readonly decided: PreemptionDecided['data']
  readonly submission: number
  readonly class: string
  readonly team: string
  readonly budget: string
  startedAt: number | null
  /** When the place was no longer kept, and why. */
  over: { readonly at: number; readonly end: string } | null
  /** Thousandths of devices x ms that the place kept idle so far. */
  keptMilliMs: number
  keptMilli: number
}

const side = (prefix: string) =>
  ['node', 'entitled_milli', 'held_milli', 'owed_milli_h', 'charged_milli_h'].map((name) => `${prefix}_${name}`)

export const preemptionRows: RowTable = {
  table: 'preemption_rows',
  columns: [
    'cell',
    'position',
    'workload',
    'submission',
    'class',
    'team',
    'budget',
    'at_ms',
    'rule',
    'need_milli_units',
    'freed_milli_units',
    'victims',
    'looked',
    'devices',
    'hold_until_ms',
    'without_ms',
    ...side('side'),
    ...side('victim_side'),
    'started_ms',
    'over_ms',
    'end',
    'kept_milli_ms',
    'version',
  ],
}

export const preemptionRow = (cell: string, live: LivePreemption, version: number): Row => {
  const { decided } = live
  return [
    cell,
    live.position,
    decided.workload,
    live.submission,
    live.class,
    live.team,
    live.budget,
    live.at,
    decided.rule,
    decided.needMilli,
    decided.freedMilli,
    decided.victims.length,
    decided.looked,
    decided.lease.reduce((sum, { devices }) => sum + devices.length, 0),
    decided.holdUntil,
    decided.withoutAt,
    ...standing(decided.side),
    ...standing(decided.victimSide),
    live.startedAt,
    live.over?.at ?? null,
    live.over?.end ?? '',
    live.over === null ? null : live.keptMilliMs,
    version,
  ]
}

const standing = (of: SideStanding | null): Row =>
  of === null
    ? ['', null, null, null, null]
    : [of.node, of.entitledMilli, of.heldMilli, of.owedMilliUnitH, of.chargedMilliUnitH]
