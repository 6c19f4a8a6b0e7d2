import type { StagedEvent } from '../chain/log-index.ts'
import { lineOf } from '../chain/stored-event.ts'

/** One event of the stream, as it was stored. */
export interface Recorded {
  /** In the stream; not always the position in the log, see `read-so-far.ts`. */
  readonly revision: number
  readonly line: string
  /** The append that it is part of goes on behind it, in another call. */
  readonly goesOn: boolean
}

interface Delivered {
  /** Its type says bigint; releases of the client have delivered numbers. */
  readonly revision: unknown
  readonly data: unknown
  readonly metadata?: unknown
}

/** @throws Error when the number is none: positions are decoded and never trusted */
export const wholeNumber = (value: unknown): number => {
  const number = typeof value === 'bigint' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new Error('the server gave no whole number')
  return number
}

export const decodeRecorded = ({ data, metadata, revision }: Delivered): Recorded => ({
  revision: wholeNumber(revision),
  // What is no line of ours is found to be none by whoever takes it up.
  line: data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.length).toString('utf8') : '',
  goesOn: typeof metadata === 'object' && metadata !== null && 'goesOn' in metadata && metadata.goesOn === true,
})

/** As the client takes it. */
export interface ProposedEvent {
  readonly id: string
  readonly contentType: 'application/octet-stream'
  readonly type: string
  readonly data: Uint8Array
  readonly metadata: { readonly goesOn: true } | undefined
}

/**
 * Bytes, not JSON: the client would write JSON anew, and what is hashed is this text. The id is made of the hash, so the same
 * id is the same text at the same place: a server that takes a repeated id for a success cannot acknowledge another event.
 */
export const proposedEvent = (event: StagedEvent): ProposedEvent => ({
  id: uuidOf(event.hash),
  contentType: 'application/octet-stream',
  type: typeOf(event.text),
  data: Buffer.from(lineOf(event)),
  metadata: undefined,
})

/** Version 8 of RFC 9562: 122 bits of our own. */
const uuidOf = (hash: string): string => {
  const variant = ((parseInt(hash[16]!, 16) & 0x3) | 0x8).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const typeOf = (leaf: string): string =>
  /"type":"([\w.-]+)"\},"previousHash":"[0-9a-f]{64}"\}$/.exec(leaf)?.[1] ?? 'event'

/** At most what the server counts of it against what one append may have. */
export const sizeOnDisk = ({ data, type }: ProposedEvent): number => data.length + 2 * type.length + goesOnBytes
const goesOnBytes = '{"goesOn":true}'.length
