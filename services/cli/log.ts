import type { CellEvent } from '../../domain/planner/cell-event.ts'
import { eventText, shortType } from '../../projections/explain/event-text.ts'
import { instantText } from '../../projections/explain/wording.ts'
import type { EventRow as Row } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { instantFrom } from './instant.ts'
import { registerLogExport } from './log-export.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `log WORKLOAD` and, beneath it, what else is done with the log as a whole. */
export const registerLog: Register = (program, context) => {
  const log = program
    .command('log')
    .argument('[workload]', 'its id')
    .description('what happened to a workload, event by event; `log export` gives the whole log')
    .option('--at <time>', 'what had happened by then (default: now, the end of the log)')
    .action(
      verb(context, (session, id: string | undefined, flags: { at?: string }) => {
        if (id === undefined)
          throw new VerbFailed(
            exitCodes.usage,
            'say which workload: `leasehold log WORKLOAD`, or `leasehold log export`',
          )
        return withDesk(session, {}, async (desk) => {
          const rows = (await fromDesk(desk.life(id, instantFrom(flags.at)))) as ReadonlyArray<EventRow>
          await session.printRows<EventRow>(rows, session.style.format === 'csv' ? plainEventColumns : columns)
          return exitCodes.done
        })
      }),
    )
  registerLogExport(log, context)
}

export type EventRow = Row & JsonObject

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
