import type { Cell } from '../../domain/planner/cell.ts'
import type { PolicyActivated } from '../../domain/planner/cell-event.ts'
import { sharingOf } from '../../domain/policy/allocation-policy.ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import type { Row, RowTable } from '../rows/row-table.ts'

export const cellRows: RowTable = {
  table: 'cell_rows',
  columns: ['cell', 'first_ms', 'now_ms', 'events', 'standing', 'policy', 'policy_name', 'hash', 'version'],
}

/** @param last event of the cell so far */
export const cellRow = (
  cell: Cell,
  firstAt: number,
  last: Pick<StoredEvent, 'hash' | 'position' | 'revision'>,
): Row => [
  cell.name,
  firstAt,
  cell.now,
  last.revision + 1,
  cell.standing,
  cell.policyHash ?? '',
  cell.policy?.name ?? '',
  last.hash,
  last.position,
]

export const policyRows: RowTable = {
  table: 'policy_rows',
  columns: ['cell', 'version', 'at_ms', 'policy', 'name', 'owner', 'mode', 'sharing', 'strategy', 'queues'],
}

export const policyRow = (cell: string, { at, data: { document, hash } }: PolicyActivated, version: number): Row => [
  cell,
  version,
  at,
  hash,
  document.name,
  document.owner ?? '',
  document.mode,
  sharingOf(document),
  document.placement.strategy,
  document.queues.map(({ name }) => name),
]
