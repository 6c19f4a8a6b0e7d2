import type { RebuiltTable } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `rebuild`. */
export const registerRebuild: Register = (program, context) => {
  program
    .command('rebuild')
    .description('drop the views and make them anew from the log; prints rows and hash of each, before and after')
    .addHelpText(
      'after',
      `\nNothing that is asked afterwards is answered otherwise: exit code ${exitCodes.different} if it would be.\n\nExamples:\n  leasehold rebuild`,
    )
    .action(
      verb(context, (session) =>
        withDesk(session, { claims: 'rebuild', views: true }, async (desk) => {
          const tables = (await fromDesk(desk.rebuild())) as ReadonlyArray<Row>
          await session.printRows<Row>(tables, session.style.format === 'csv' ? plainColumns : columns)
          const differing = tables.filter((table) => !isSame(table)).length
          if (session.style.format === 'table')
            session.note(differing === 0 ? 'The same as before.' : `${differing} are not what they were before.`)
          return differing === 0 ? exitCodes.done : exitCodes.different
        }),
      ),
    )
}

type Row = RebuiltTable & JsonObject

const isSame = ({ hashAfter, hashBefore, rowsAfter, rowsBefore }: RebuiltTable): boolean =>
  hashAfter === hashBefore && rowsAfter === rowsBefore

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'table', value: ({ table }) => table, whole: true },
  { name: 'rows', value: ({ rowsBefore }) => rowsBefore },
  { name: 'rebuilt', value: ({ rowsAfter }) => rowsAfter },
  { name: 'hash', value: ({ hashBefore }) => hashBefore.slice(0, 16), whole: true },
  { name: 'rebuilt', value: ({ hashAfter }) => hashAfter.slice(0, 16), whole: true },
  {
    name: 'same',
    value: (table) => (isSame(table) ? 'yes' : 'NO'),
    paint: (table) => (isSame(table) ? 'good' : 'bad'),
    whole: true,
  },
]
const plainColumns: ReadonlyArray<Column<Row>> = ['table', 'rowsBefore', 'rowsAfter', 'hashBefore', 'hashAfter'].map(
  (name) => ({ name, value: (row) => row[name] ?? null }),
)
