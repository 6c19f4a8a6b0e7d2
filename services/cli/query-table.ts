import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { QueryResult } from '../../domain/ports/views.ts'
import { fitsTable, renderRecords, type Column, type JsonObject } from './output.ts'
import type { Session } from './session.ts'

const numeric = /^(Nullable\()?(U?Int|Float|Decimal)/

/** Rows of a query under the names of its columns, whatever it selected; beside them where they do not fit a line. */
export const printQuery = (session: Session, { columns, rows }: QueryResult): Promise<void> => {
  const named = uniqueNames(columns.map(({ name }) => name))
  const objects = rows.map((row): JsonObject => Object.fromEntries(named.map((name, i) => [name, row[i] ?? null])))
  const shown = columns.map(({ type }, i): Column<JsonObject> => ({
    name: named[i]!,
    value: (row) => row[named[i]!] as Json,
    ...(numeric.test(type) && { align: 'right' }),
  }))
  const { style } = session
  return style.format === 'table' && !fitsTable(objects, shown, style)
    ? session.write(renderRecords(objects, shown, style))
    : session.printRows<JsonObject>(objects, shown)
}

/** Two columns of one name would be one member of an object. */
const uniqueNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}
