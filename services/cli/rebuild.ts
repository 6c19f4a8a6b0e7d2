import { either as E } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { ownerOf } from '../../infra/host/folder-owner.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'
import { withDesk } from './desk.ts'
import { deskFailed } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { loadedViews } from './load-views.ts'
import { withClaimedFolder, withLog } from './opened-log.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'

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
        rebuilt(session).then(async (tables) => {
          await session.printRows<Row>(tables, session.style.format === 'csv' ? plainColumns : columns)
          const differing = tables.filter((table) => table.hashBefore !== '' && !isSame(table)).length
          if (session.style.format === 'table')
            session.note(
              differing === 0
                ? tables.every(({ hashBefore }) => hashBefore === '')
                  ? 'Made anew.'
                  : 'The same as before.'
                : `${differing} are not what they were before.`,
            )
          return differing === 0 ? exitCodes.done : exitCodes.different
        }),
      ),
    )
}

type Row = RebuiltTable & JsonObject

const rebuilt = async (session: Session): Promise<ReadonlyArray<Row>> => {
  const answer = await withDesk(session, { claims: 'rebuild', views: true }, (desk) => desk.rebuild()())
  if (E.isRight(answer)) return answer.right as ReadonlyArray<Row>
  const { left } = answer
  const isDamaged = left.type === 'ViewsUnavailable' && left.mend.includes('leasehold rebuild')
  if (!isDamaged || ownerOf(session.configuration.data) !== null) throw deskFailed(left)
  session.note(`What was there cannot be read, and is dropped: ${left.reason}.`)
  return withClaimedFolder(session, 'rebuild', () => withLog(session, (log) => madeAnew(session, log)))
}

const madeAnew = async (session: Session, log: EventLog): Promise<ReadonlyArray<Row>> => {
  const made = await loadedViews(session, log, true)
  if (E.isLeft(made)) throw deskFailed(made.left)
  const contents = (await made.right?.contents()()) ?? E.right([])
  await made.right?.close()
  if (E.isLeft(contents)) throw deskFailed(contents.left)
  return contents.right.map(({ table, rows, hash }) => ({
    table,
    rowsBefore: 0,
    hashBefore: '',
    rowsAfter: rows,
    hashAfter: hash,
  }))
}

const isSame = ({ hashAfter, hashBefore, rowsAfter, rowsBefore }: RebuiltTable): boolean =>
  hashAfter === hashBefore && rowsAfter === rowsBefore

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'table', value: ({ table }) => table, whole: true },
  { name: 'rows', value: ({ rowsBefore }) => rowsBefore },
  { name: 'rebuilt rows', value: ({ rowsAfter }) => rowsAfter },
  { name: 'hash', value: ({ hashBefore }) => hashBefore.slice(0, 16), whole: true },
  { name: 'rebuilt hash', value: ({ hashAfter }) => hashAfter.slice(0, 16), whole: true },
  {
    name: 'same',
    value: (table) => (table.hashBefore === '' ? 'new' : isSame(table) ? 'yes' : 'NO'),
    paint: (table) => (table.hashBefore === '' || isSame(table) ? 'good' : 'bad'),
    whole: true,
  },
]
const plainColumns: ReadonlyArray<Column<Row>> = ['table', 'rowsBefore', 'rowsAfter', 'hashBefore', 'hashAfter'].map(
  (name) => ({ name, value: (row) => row[name] ?? null }),
)
