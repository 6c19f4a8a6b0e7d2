import { needed, Objection, optional, record, scalar, wholeNumber, decoding } from '../../../domain/kernel/document.ts'
import { either as E } from 'fp-ts'
import { found } from '../../../domain/kernel/wording.ts'
import type { QueryLimits, QueryResult } from '../../../domain/ports/views.ts'
import { invalid } from '../http-error.ts'
import { plainText, queryResultSchema, rebuiltSchema } from '../schemas.ts'
import {
  csvType,
  given,
  jsonType,
  noQuery,
  objectIn,
  objectSchema,
  ok,
  route,
  textIn,
  textType,
  type Asked,
  type Route,
} from './route.ts'

const queryCharsMax = 100_000
const timeMaxMsDefault = 10_000
const timeMaxMsMost = 600_000
const rowsMaxDefault = 10_000
const rowsMaxMost = 1_000_000

const sqlText = scalar(
  `SQL of 1 to ${queryCharsMax} characters`,
  { type: 'string', minLength: 1, maxLength: queryCharsMax },
  (value) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= queryCharsMax
      ? value
      : new Objection(typeof value === 'string' ? `has ${value.length} characters` : `found ${found(value)}`),
)

const sqlBody = record({
  query: needed(sqlText),
  timeMaxMs: optional(wholeNumber(1, timeMaxMsMost), timeMaxMsDefault),
  rowsMax: optional(wholeNumber(1, rowsMaxMost), rowsMaxDefault),
})

const queryIn = async (asked: Asked<unknown>): Promise<QueryLimits & { readonly query: string }> => {
  if (asked.type === jsonType) return objectIn(asked, sqlBody)
  const query = decoding(sqlText)(textIn(await asked.body()))
  if (E.isLeft(query)) throw invalid(query.left)
  return { query: query.right, timeMaxMs: timeMaxMsDefault, rowsMax: rowsMaxDefault }
}

export const viewRoutes: ReadonlyArray<Route> = [
  route({
    method: 'POST',
    path: '/v1/sql',
    tag: 'views',
    summary: 'Asks the views in SQL; nothing can be changed',
    query: noQuery,
    body: { types: { [jsonType]: objectSchema(sqlBody), [textType]: sqlText.schema } },
    answers: {
      200: {
        description: 'The rows, in the order of the columns',
        content: { [jsonType]: queryResultSchema, [csvType]: plainText },
      },
    },
    errors: [422],
    answer: async (asked) => {
      const { query, rowsMax, timeMaxMs } = await queryIn(asked)
      const result = await given(asked.desk.sql(query, { rowsMax, timeMaxMs }))
      const type = asked.accepts([jsonType, csvType])
      return { status: 200, type, body: type === csvType ? csvOf(result) : result }
    },
  }),
  route({
    method: 'POST',
    path: '/v1/rebuild',
    tag: 'views',
    summary: 'Drops the views and builds them again from the log',
    query: noQuery,
    body: { types: { [jsonType]: record({}).schema }, optional: true },
    answers: {
      200: { description: 'Rows and hash of each table, before and after', content: { [jsonType]: rebuiltSchema } },
    },
    errors: [409],
    answer: async (asked) => {
      await objectIn(asked, record({}))
      return ok(await given(asked.desk.rebuild()))
    },
  }),
]

/** RFC 4180; a text that a spreadsheet would take for a formula is given as a text. */
const csvOf = ({ columns, rows }: QueryResult): string =>
  [columns.map(({ name }) => cellOf(name)), ...rows.map((row) => row.map(cellOf))]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('')

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = /^[=+@\t\r-]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
