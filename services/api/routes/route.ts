import { either as E } from 'fp-ts'
import {
  decoding,
  name,
  Objection,
  optional,
  record,
  scalar,
  type Decode,
  type Reader,
} from '../../../domain/kernel/document.ts'
import { nullableSchema, type JsonSchema } from '../../../domain/kernel/json-schema.ts'
import { instant, instantMax } from '../../../domain/kernel/quantity.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { found, isMap } from '../../../domain/kernel/wording.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import type { Answered, Orderer } from '../desk.ts'
import { HttpError, httpErrorOf, invalid } from '../http-error.ts'
import type { LocalDesk } from '../local-desk.ts'

export const jsonType = 'application/json'
export const yamlType = 'application/yaml'
export const ndjsonType = 'application/x-ndjson'
export const textType = 'text/plain'
export const csvType = 'text/csv'
export const eventStreamType = 'text/event-stream'

/** What was asked, behind the checks that all routes share. */
export interface Asked<Q> {
  readonly desk: LocalDesk
  readonly params: { readonly [name: string]: string }
  readonly query: Q
  /** The media type of the body, of those that the route takes. */
  readonly type: string
  readonly body: () => Promise<Buffer>
  readonly chunks: () => AsyncIterable<Uint8Array>
  /** Position behind which a stream of events is to go on, as a browser that lost it says; null: it does not. */
  readonly lastEventId: number | null
  /** The first of these media types that the client accepts best. */
  readonly accepts: (types: ReadonlyArray<string>) => string
  /** Aborted when the client is gone, or the server stops. */
  readonly signal: AbortSignal
}

export interface Reply {
  readonly status: number
  readonly type: string
  /** Text is sent as it is, what comes bit by bit as it comes, everything else as JSON. */
  readonly body: unknown
}

export interface Answers {
  readonly [status: number]: { readonly description: string; readonly content: { readonly [type: string]: JsonSchema } }
}

export interface Route<Q = unknown> {
  readonly method: 'GET' | 'POST'
  /** `/v1/workloads/:id` */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly params?: { readonly [name: string]: string }
  readonly query: Reader<Q>
  /** Media types of the body, each with the schema of what it says. An empty one may be left out where it is optional. */
  readonly body?: { readonly types: { readonly [type: string]: JsonSchema }; readonly optional?: true }
  readonly answers: Answers
  /** Statuses of errors beside those that every route may give. */
  readonly errors: ReadonlyArray<number>
  readonly answer: (asked: Asked<Q>) => Promise<Reply>
}

/** A route whose query is what its reader reads; erased for the table of all routes. */
export const route = <Q>(given: Route<Q>): Route => given as unknown as Route

export const noQuery: Reader<unknown> = record({})

export const ok = (body: unknown, status = 200): Reply => ({ status, type: jsonType, body })

/** The answer, or the error that says why there is none. */
export const given = async <A>(answered: Answered<A>): Promise<A> => {
  const answer = await answered()
  if (E.isLeft(answer)) throw httpErrorOf(answer.left)
  return answer.right
}

// ---- What queries are made of: texts, all of them

/** An instant: milliseconds since 1970, or RFC 3339. */
export const asOf: Reader<EpochMs> = scalar(
  `an instant such as 2026-08-14T00:00:00Z, or milliseconds since 1970 up to ${instantMax}`,
  { type: 'string', pattern: '^([0-9]{1,16}|[0-9]{4}-.*)$', description: 'RFC 3339, or milliseconds since 1970' },
  (value) => {
    if (typeof value === 'string' && /^\d{1,16}$/.test(value) && Number(value) <= instantMax)
      return Number(value) as EpochMs
    const read = decoding(instant)(value)
    return E.isRight(read) ? read.right : new Objection(`found ${found(value)}`)
  },
)

export const count = (min: number, max: number): Reader<number> =>
  scalar(`a whole number from ${min} to ${max}`, { type: 'string', pattern: '^[0-9]{1,15}$' }, (value) =>
    typeof value === 'string' && /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : new Objection(`found ${found(value)}`),
  )

/** Text without control characters; `expected` completes "give ...". */
export const printable = (expected: string, maxLength: number): Reader<string> =>
  scalar(expected, { type: 'string', minLength: 1, maxLength }, (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= maxLength && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(value)
      ? value
      : new Objection(`found ${found(value)}`),
  )

const reasonLengthMax = 500
const sentence = printable(`text of 1 to ${reasonLengthMax} printable characters`, reasonLengthMax)

/** Whose word an order is, in a query or a body; nobody checks it. */
export const orderer = {
  actor: optional(name, 'http'),
  reason: optional(sentence, null),
}
export const byOf = ({ actor, reason }: Orderer): Orderer => ({ actor, reason })

// ---- Bodies

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What a JSON or YAML body says. JSON that is none is refused as such, not read as YAML. */
export const documentIn = async <A>(
  { body, type }: Pick<Asked<unknown>, 'body' | 'type'>,
  decode: Decode<A>,
): Promise<A> => {
  const bytes = await body()
  if (type === jsonType) refuseBadJson(bytes)
  const read = readDocument(bytes, decode)
  if (E.isLeft(read)) throw invalid(read.left)
  return read.right
}

/**
 * The same for the small objects of our own, of which an empty body is one. Programs may say null for what they leave
 * out.
 */
export const objectIn = async <A>(asked: Pick<Asked<unknown>, 'body' | 'type'>, reader: Reader<A>): Promise<A> => {
  const bytes = await asked.body()
  const body = () => Promise.resolve(bytes.length === 0 ? Buffer.from('{}') : bytes)
  const decode = decoding(reader)
  return documentIn({ ...asked, body }, (value) => decode(isMap(value) ? withoutNulls(value) : value))
}

const withoutNulls = (value: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))

/** The schema of what `objectIn` takes. */
export const objectSchema = ({ schema }: Reader<unknown>): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([member, own]) => [
      member,
      schema.required?.includes(member) === true ? own : nullableSchema(own),
    ]),
  ),
})

export const refuseBadJson = (bytes: Uint8Array): void => {
  try {
    JSON.parse(textIn(bytes))
  } catch (cause) {
    if (cause instanceof HttpError) throw cause
    const said = cause instanceof Error ? cause.message.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?').slice(0, 200) : ''
    throw invalid([{ path: '$', reason: `is not JSON: ${said}`, mend: 'send JSON, or say which type it is' }])
  }
}

export const textIn = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalid([{ path: '$', reason: 'is not UTF-8', mend: 'send UTF-8' }])
  }
}
