import type { Fault } from '../../domain/kernel/fault.ts'
import type { Command } from '../../domain/planner/command.ts'
import { instantText } from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

const limitDefault = 50
const limitMost = 10_000

/** Registers `commands`. */
export const registerCommands: Register = (program, context) => {
  addWatchFlag(
    program
      .command('commands')
      .description('what adapters are to do and have not concluded (docs/commands.md)')
      .option('--limit <n>', `so many, 1 to ${limitMost} (default: ${limitDefault})`)
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText(
      'after',
      '\nThose that were concluded are in the view of that name: leasehold sql "SELECT * FROM commands"',
    )
    .action(
      verb(context, (session, flags: { readonly at?: string; readonly limit?: string; readonly watch?: WatchFlag }) => {
        const faults: Fault[] = []
        const limit = numberBetween('--limit', flags.limit, 1, limitMost, faults) ?? limitDefault
        const at = instantFrom(flags.at)
        refuseFlags(faults)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, {}, async (desk) => {
            const rows = (await fromDesk(desk.commands(limit, at))) as unknown as ReadonlyArray<Row>
            await drawn.printRows<Row>(rows, drawn.style.format === 'csv' ? plainColumns : columns)
            if (drawn.style.format === 'table' && rows.length === 0) drawn.note('None is open.')
            return exitCodes.done
          }),
        )
      }),
    )
}

type Row = Command & JsonObject

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'command', value: ({ command }) => command, whole: true },
  { name: 'because', value: ({ because }) => because },
  { name: 'issued', value: ({ issuedAt }) => instantText(issuedAt), whole: true },
  { name: 'due', value: ({ deadlineAt }) => instantText(deadlineAt), whole: true },
]

const plainColumns: ReadonlyArray<Column<Row>> = (
  ['command', 'verb', 'workload', 'attempt', 'because', 'issuedAt', 'deadlineAt', 'graceMs'] as const
).map((name) => ({ name, value: (row) => row[name] }))
