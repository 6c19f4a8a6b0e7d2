import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { EventLog, StoredEvent } from '../../domain/ports/event-log.ts'
import { eventText, shortType } from '../../projections/explain/event-text.ts'
import { instantText } from '../../projections/explain/wording.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { registerLogExport } from './log-export.ts'
import { withLog } from './opened-log.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { storedEvents, workloadOf } from './workload-events.ts'

/** Registers `log WORKLOAD` and, beneath it, what else is done with the log as a whole. */
export const registerLog: Register = (program, context) => {
  const log = program
    .command('log')
    .argument('[workload]', 'its id')
    .description('what happened to a workload, event by event; `log export` gives the whole log')
    .action(
      verb(context, async (session, id: string | undefined) => {
        if (id === undefined)
          throw new VerbFailed(
            exitCodes.usage,
            'say which workload: `leasehold log WORKLOAD`, or `leasehold log export`',
          )
        return withLog(session, (events) => printLife(session, events, id))
      }),
    )
  registerLogExport(log, context)
}

const printLife = async (session: Session, log: EventLog, id: string) => {
  const rows: EventRow[] = []
  for await (const event of storedEvents(session, log)) if (workloadOf(event.message) === id) rows.push(rowOf(event))
  if (rows.length === 0) throw new VerbFailed(exitCodes.failed, `there is no workload ${id} in the log`)
  await session.printRows<EventRow>(rows, session.style.format === 'csv' ? plainEventColumns : columns)
  return exitCodes.done
}

export type EventRow = JsonObject & {
  readonly position: number
  readonly at: number
  readonly type: string
  readonly data: JsonObject
}

export const rowOf = ({ position, id, causation, policy, message }: StoredEvent): EventRow => ({
  position,
  id,
  at: message.at,
  type: message.type,
  causation,
  policy,
  data: message.data,
})

const columns: ReadonlyArray<Column<EventRow>> = [
  { name: 'pos', value: ({ position }) => position },
  { name: 'at', value: ({ at }) => instantText(at), whole: true },
  { name: 'type', value: ({ type }) => shortType(type), whole: true },
  { name: 'what', value: (row) => textOf(row) },
]

export const textOf = ({ type, at, data }: EventRow): string => eventText({ type, at, data } as unknown as CellEvent)

/** For a spreadsheet: instants in ms, and what happened as JSON. */
export const plainEventColumns: ReadonlyArray<Column<EventRow>> = [
  { name: 'position', value: ({ position }) => position },
  { name: 'at', value: ({ at }) => at },
  { name: 'type', value: ({ type }) => type },
  { name: 'workload', value: ({ data }) => data['workload'] ?? null },
  { name: 'data', value: ({ data }) => data },
]
