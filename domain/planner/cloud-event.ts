import { either as E } from 'fp-ts'
import {
  built,
  decoding,
  identifier,
  name,
  needed,
  Objection,
  oneOf,
  optional,
  record,
  scalar,
  type Decode,
  type Reader,
} from '../kernel/document.ts'
import type { JsonSchema } from '../kernel/json-schema.ts'
import type { Fault } from '../kernel/fault.ts'
import { instantMax } from '../kernel/quantity.ts'
import type { EpochMs } from '../kernel/units.ts'
import { found, isMap, shown } from '../kernel/wording.ts'
import { factData, type CellFact } from './cell-event.codec.ts'
import type { CellInput } from './cell-event.ts'
import { editionFirst } from './edition.ts'

/** A fact as it travels: a CloudEvent 1.0 in structured JSON, one in a line. The same `id` again is the same fact again. */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  /** RFC 3339, in UTC, to the millisecond. */
  readonly time: string
  readonly data: CellInput['data']
}

/** Longest line of facts, in UTF-16 units. */
export const factLengthMax = 1_048_576

/** The name of each input on every wire. */
export const cloudEventTypes: { readonly [T in CellInput['type']]: string } = {
  NodeRegistered: 'dev.leasehold.node.registered.v1',
  NodeHealthChanged: 'dev.leasehold.node.health-changed.v1',
  PolicyActivated: 'dev.leasehold.policy.activated.v1',
  WorkloadSubmitted: 'dev.leasehold.workload.submitted.v1',
  AttemptEnded: 'dev.leasehold.attempt.ended.v1',
  CancelRequested: 'dev.leasehold.cancel.requested.v1',
  CommandConcluded: 'dev.leasehold.command.concluded.v1',
  HoldRequested: 'dev.leasehold.hold.requested.v1',
  ReleaseRequested: 'dev.leasehold.release.requested.v1',
  CheckpointCommitted: 'dev.leasehold.checkpoint.committed.v1',
  ProgressObserved: 'dev.leasehold.progress.observed.v1',
  DrillConcluded: 'dev.leasehold.drill.concluded.v1',
  Ticked: 'dev.leasehold.clock.ticked.v1',
}

/** What a source says it is, or is made of; kept with what is recorded. */
export type SourcedFact = CellFact & { readonly source: string }

const types = Object.keys(cloudEventTypes) as ReadonlyArray<CellInput['type']>
const timeForm = /^(?:\d{4}|\+\d{6})-\d{2}-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|([+-])(\d{2}):(\d{2}))$/
const timeSchema: JsonSchema = { type: 'string', format: 'date-time' }

const time: Reader<EpochMs> = scalar('an instant such as "2026-08-14T00:00:00.000Z"', timeSchema, (value) => {
  if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
  const parts = timeForm.exec(value)
  const ms = parts === null ? NaN : Date.parse(value)
  if (ms >= 0 && ms <= instantMax && isOnDay(ms, parts!)) return ms as EpochMs
  return new Objection(
    `${shown(value)} is no instant from 1970 on`,
    'write date, time and zone: "2026-08-14T00:00:00.000Z"',
  )
})

/** The engine takes the 30th of February for a day in March. */
const isOnDay = (ms: number, [, day, sign, hours = '0', minutes = '0']: ReadonlyArray<string>): boolean => {
  const ahead = (+hours * 60 + +minutes) * 60_000
  return new Date(sign === '-' ? ms - ahead : ms + ahead).getUTCDate() === +day!
}

const attributes = {
  specversion: needed(oneOf(['1.0'])),
  id: needed(identifier),
  source: needed(name),
  type: needed(oneOf(Object.values(cloudEventTypes))),
  time: needed(time),
  datacontenttype: optional(oneOf(['application/json']), 'application/json'),
}

/** One per type, so that a fact's data is checked against its type and nothing else is tried. */
const readers = new Map<unknown, Reader<SourcedFact>>(
  types.map((type) => [
    cloudEventTypes[type],
    built(
      record({
        ...attributes,
        type: needed(oneOf([cloudEventTypes[type]])),
        data: needed(factData[type] as Reader<unknown>),
      }),
      ({ id, source, time: at, data }) => ({ id, source, type, at, data }) as SourcedFact,
    ),
  ]),
)

const untyped = record({
  ...attributes,
  data: needed<unknown>({ expected: 'what happened', fields: [], schema: {}, read: (value) => value ?? null }),
})

/** Schema of each fact's event, by its type on the wire. */
export const cloudEventSchemas: ReadonlyMap<string, JsonSchema> = new Map(
  [...readers].map(([type, reader]) => [type as string, reader.schema]),
)

const fact: Reader<SourcedFact> = {
  expected: untyped.expected,
  fields: untyped.fields,
  schema: { anyOf: [...cloudEventSchemas.values()] },
  read: (value, notes) => {
    const known = isMap(value) ? withoutExtensions(value) : value
    const type: unknown = isMap(known) ? known['type'] : undefined
    return (readers.get(type) ?? untyped).read(known, notes) as SourcedFact | undefined
  },
}

const ours: ReadonlySet<string> = new Set(untyped.fields)

/** CloudEvents may carry attributes that concern their way here (`traceparent`, `subject` ...): they are not kept. */
const withoutExtensions = (value: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } => {
  const isExtension = (key: string): boolean =>
    !ours.has(key) && /^[a-z0-9]{1,20}$/.test(key) && typeof value[key] !== 'object'
  // Most have none, and none of them is copied.
  return Object.keys(value).some(isExtension)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => !isExtension(key)))
    : value
}

/** Strict about the data: whoever sends a member that we do not know means something that we would lose. */
export const decodeFact: Decode<SourcedFact> = decoding(fact)

/** One line of NDJSON. */
export const decodeFactLine = (line: string): E.Either<ReadonlyArray<Fault>, SourcedFact> => {
  if (line.length > factLengthMax)
    return refused(`has ${line.length} characters, above ${factLengthMax}`, 'send one fact a line')
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return refused(`is not JSON: ${error instanceof Error ? plain(error.message) : ''}`, 'send one JSON object a line')
  }
  const decoded = decodeFact(value)
  // JSON.parse keeps the last of two members of one name, where another reader may have kept the first.
  return E.isRight(decoded) && membersIn(line) !== membersOf(value)
    ? refused('has a member twice', 'send each member once')
    : decoded
}

/** Members that a JSON text writes: its strings that a colon follows. */
const membersIn = (text: string): number => {
  let members = 0
  // As programs write it: no blank before a colon, and no quote before one within a text.
  if (!/"\s+:|\\":/.test(text)) return text.split('":').length - 1
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) members++
  return members
}

/** Of a value that has been decoded, and therefore nests no deeper than a fact does. */
const membersOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const below: ReadonlyArray<unknown> = Object.values(value)
  let members = Array.isArray(value) ? 0 : below.length
  for (const each of below) members += membersOf(each)
  return members
}

const refused = (reason: string, mend: string) => E.left([{ path: '$', reason, mend }])

/** The engine's message repeats what it read, escapes and all. */
const plain = (message: string): string => message.slice(0, 200).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')

/** One line, without its line feed. */
export const encodeFact = (fact: SourcedFact): string =>
  JSON.stringify({
    specversion: '1.0',
    id: fact.id,
    source: fact.source,
    type: cloudEventTypes[fact.type],
    time: new Date(fact.at).toISOString(),
    data: fact.type === 'PolicyActivated' ? { ...fact.data, edition: fact.data.edition ?? editionFirst } : fact.data,
  } satisfies CloudEvent)
