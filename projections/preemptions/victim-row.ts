import type { Victim } from '../../domain/planner/cell-event.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

/** A running attempt that was asked to make room. */
export interface LiveVictim {
  readonly position: number
  readonly victim: Victim
  readonly submission: number
  readonly class: string
  readonly team: string
  readonly budget: string
}

export const victimRows: RowTable = {
  table: 'victim_rows',
  columns: [
    'cell',
    'position',
    'victim',
    'victim_submission',
    'victim_attempt',
    'victim_class',
    'victim_team',
    'victim_budget',
    'asked',
    'kept_devices',
    'milli_units',
    'loss_milli_unit_s',
    'left_ms',
    'version',
  ],
}

/** @param leftAt null while it holds what it is to give back */
export const victimRow = (
  cell: string,
  { position, victim, submission, ...of }: LiveVictim,
  leftAt: number | null,
  version: number,
): Row => [
  cell,
  position,
  victim.workload,
  submission,
  victim.attempt,
  of.class,
  of.team,
  of.budget,
  victim.keeps === null ? 'evict' : 'shrink',
  victim.keeps?.reduce((sum, { devices }) => sum + devices.length, 0) ?? 0,
  victim.milliUnits,
  victim.lossMilliUnitS,
  leftAt,
  version,
]
