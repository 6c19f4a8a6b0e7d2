import type { Command } from 'commander'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { QueryResult } from '../../domain/ports/views.ts'
import { durationText, instantText } from '../../projections/explain/wording.ts'
import { notYetKnown } from '../api/as-of.ts'
import { withDesk } from './desk.ts'
import { deskFailed, fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { fitsTable, renderRecords, type Column, type JsonObject } from './output.ts'
import { printQuery } from './query-table.ts'
import { verb, type Context, type Session } from './session.ts'
import { addQueryFlags, queryLimits, type QueryFlags } from './sql.ts'
import { watched } from './watch.ts'

/** A verb that is one query over one view. */
export interface ViewQuery<Flags> {
  /** As the folder's owner is told. */
  readonly claims: string
  readonly sql: (session: Session, flags: Flags) => string
  /** For a person; every other format has the columns of the query. */
  readonly columns: (flags: Flags) => ReadonlyArray<Column<JsonObject>>
}

/** Flags of such a verb; the instant is for its query to read. */
export type ViewFlags = QueryFlags & { readonly at?: string }

export const answerQuery = <Flags extends ViewFlags>(
  command: Command,
  context: Context,
  query: ViewQuery<Flags>,
): Command =>
  addQueryFlags(command).action(
    verb(context, async (session, flags: Flags) => {
      const limits = queryLimits(flags)
      const sql = query.sql(session, flags)
      const at = instantFrom(flags.at)
      return watched(session, flags.watch, async (drawn) => {
        const found = await withDesk(drawn, { claims: query.claims, views: true }, async (desk) => {
          const unknown = at === null ? null : notYetKnown(at, (await fromDesk(desk.status())).now)
          if (unknown !== null) throw deskFailed(unknown)
          return fromDesk(desk.sql(sql, limits))
        })
        if (drawn.style.format === 'table') await printTable(drawn, objectsOf(found), query.columns(flags))
        else await printQuery(drawn, found)
        if (drawn.style.format === 'table' && found.rows.length === 0) drawn.note('The views have no rows for that.')
        return exitCodes.done
      })
    }),
  )

/** One row that is too long for a line is told figure by figure. */
const printTable = (
  { printRows, style, write }: Session,
  rows: ReadonlyArray<JsonObject>,
  columns: ReadonlyArray<Column<JsonObject>>,
): Promise<void> =>
  rows.length === 1 && !fitsTable(rows, columns, style)
    ? write(renderRecords(rows, columns, style))
    : printRows<JsonObject>(rows, columns)

const objectsOf = ({ columns, rows }: QueryResult): ReadonlyArray<JsonObject> =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])))

/** A text inside a query: nothing in it ends it. */
export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** An instant inside a query, from what a flag says. */
export const instantLiteral = (text: string, flag?: string): string =>
  `fromUnixTimestamp64Milli(${instantFrom(text, flag)!}, 'UTC')`

export const cellIs = ({ configuration }: Session): string => `cell = ${literal(configuration.cell)}`

/** `2026-08-14 00:00:00.000` of a query, as people read it. */
export const instantCell = (value: Json | undefined): string | null =>
  typeof value === 'string' ? instantText(Date.parse(`${value.replace(' ', 'T')}Z`)) : null

export const durationCell = (value: Json | undefined): string | null =>
  typeof value === 'number' ? durationText(value) : null

/** Hours, or GPUs: to a tenth. */
export const tenths = (value: Json | undefined): string | null =>
  typeof value === 'number'
    ? value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
    : null
