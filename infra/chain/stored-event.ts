import { hash } from 'node:crypto'
import { assert } from '../../domain/kernel/decider.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Envelope, NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'

/*
 * The one stored form of an event. Its LEAF is this text, and its hash is the SHA-256 of the leaf in UTF-8:
 *
 *   {"position":P,"stream":"S","revision":R,"version":V,"meta":{...},"message":{...},"previousHash":"<64 hex>"}
 *
 * `meta` is the canonical JSON of actor, causation, correlation, id, policy, reason, recordTime and source, null members
 * left out. `message` is that of `{"at":...,"data":{...},"type":"..."}`, what was seen or decided: it alone is read to fold a
 * cell, and it alone is in the log digest. The writer of `data` has put its keys in canonical order, so it is canonical
 * as it is. Names that look like whole numbers are not used as keys: JavaScript moves those to the front.
 * The exported LINE is the leaf with `,"hash":"<64 hex>"` before its last brace. What is read back is parsed from the
 * line, by every adapter, so what an audit hashes is what a reader gets; but for the newest events, which those who
 * subscribe in the process that appended them are handed as they were appended.
 */

/** What comes before the first event of a stream. */
export const genesis = '0'.repeat(64)

export interface Leaf {
  readonly text: string
  readonly hash: string
}

/** `{"actor":"simulation","id":"submit-7","recordTime":0,"source":"openb"}` */
export const metaText = (event: Envelope): string => {
  const causation = event.causation === null ? '' : `"causation":${JSON.stringify(event.causation)},`
  const correlation = event.correlation === null ? '' : `"correlation":${JSON.stringify(event.correlation)},`
  const policy = event.policy === null ? '' : `"policy":${JSON.stringify(event.policy)},`
  const reason = event.reason === undefined ? '' : `"reason":${JSON.stringify(event.reason)},`
  const id = JSON.stringify(event.id)
  return `{"actor":${JSON.stringify(event.actor)},${causation}${correlation}"id":${id},${policy}${reason}"recordTime":${event.recordTime},"source":${JSON.stringify(event.source)}}`
}

export const messageText = ({ at, data, type }: NewEvent['message']): string =>
  `{"at":${at},"data":${JSON.stringify(data)},"type":"${type}"}`

export const leafText = (
  position: number,
  stream: string,
  revision: number,
  version: number,
  meta: string,
  message: string,
  previousHash: string,
): string =>
  `{"position":${position},"stream":"${stream}","revision":${revision},"version":${version},"meta":${meta},"message":${message},"previousHash":"${previousHash}"}`

export const leafHash = (text: string): string => hash('sha256', text)

export const lineOf = ({ text, hash }: Leaf): string => `${text.slice(0, -1)},"hash":"${hash}"}`

/** The leaf of a line, by its fixed length from the end: nothing is parsed, so damage cannot lead astray. */
export const leafOf = (line: string): Leaf => ({
  text: `${line.slice(0, -',"hash":""}'.length - genesis.length)}}`,
  hash: line.slice(-genesis.length - 2, -2),
})

export const previousHashOf = (text: string): string => text.slice(-genesis.length - 2, -2)

/** Whether the line is made of the parts that `leafOf` finds, and the hash is that of the leaf. */
export const isIntact = (line: string, leaf: Leaf): boolean =>
  lineOf(leaf) === line && leafHash(leaf.text) === leaf.hash

/** `metaText`, parsed. */
export interface Meta {
  readonly actor: string
  readonly causation?: string
  readonly correlation?: string
  readonly id: string
  readonly policy?: string
  readonly reason?: string
  readonly recordTime: EpochMs
  readonly source: string
}

export const envelopeOf = ({
  id,
  source,
  actor,
  recordTime,
  causation,
  correlation,
  policy,
  reason,
}: Meta): Envelope => ({
  id,
  source,
  actor,
  recordTime,
  causation: causation ?? null,
  correlation: correlation ?? null,
  policy: policy ?? null,
  ...(reason === undefined ? none : { reason }),
})

const none = {}

interface Line {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly version: number
  readonly meta: Meta
  readonly message: NewEvent['message']
  readonly previousHash: string
  readonly hash: string
}

/** @throws SyntaxError when the text is no JSON: the caller knows where it was and says so */
export const parseLine = (text: string): StoredEvent => {
  const { position, stream, revision, version, meta, message, previousHash, hash } = JSON.parse(text) as Line
  return { position, stream, revision, ...envelopeOf(meta), message, version, previousHash, hash }
}

/** The names that the stored form writes without quoting them. Ours alone give them, so a bad one is a bug. */
export const assertStorable = (stream: string, events: ReadonlyArray<NewEvent>): void => {
  assert(streamName.test(stream), 'a stream has a name without spaces, quotes, backslashes and control characters')
  let type = ''
  for (const { id, message, version, recordTime } of events) {
    if (message.type !== type) {
      assert(typeName.test(message.type), 'the type of an event is letters, digits, dots, dashes and underscores')
      type = message.type
    }
    if (surrogateOrNul.test(id)) assert(!unstorableId.test(id), 'an id is well-formed Unicode without NUL')
    assert(Number.isSafeInteger(message.at) && Number.isSafeInteger(recordTime), 'times are whole milliseconds')
    assert(Number.isSafeInteger(version), 'a version is a whole number')
  }
}

const streamName = /^[^\s"\\\p{Cc}\p{Cs}]+$/u
const typeName = /^[\w.-]+$/
/** SQLite ends a text that it searches at NUL. The first test is the quick one: most ids have neither. */
const surrogateOrNul = /[\0\ud800-\udfff]/
const unstorableId = /[\0\p{Cs}]/u
