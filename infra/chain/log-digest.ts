import { createHash, type Hash } from 'node:crypto'
import { either as E, type taskEither as TE } from 'fp-ts'
import { deadLetterPrefix, type EventLog, type LogUnavailable, type NewEvent } from '../../domain/ports/event-log.ts'
import { combined } from './chain-head.ts'
import { messageText } from './stored-event.ts'

/**
 * What was seen and decided, without ids, record times and hashes: two runs that saw and decided the same have the same
 * digest. Per stream and in order, SHA-256 over a line `{"at":...,"data":...,"type":...}` for each event; the
 * streams are then combined as in the chain head.
 */
export interface LogDigest {
  readonly add: (stream: string, message: NewEvent['message']) => void
  /** Of what has been added so far; more may follow. */
  readonly value: () => string
}

interface Part {
  readonly sum: Hash
  size: number
  /** Lines that the sum has not taken yet: one call for many of them. */
  waiting: string
}

const waitingCharsMax = 1 << 16

export const logDigest = (): LogDigest => {
  const parts = new Map<string, Part>()
  const partOf = (stream: string): Part => {
    const known = parts.get(stream)
    if (known !== undefined) return known
    const part = { sum: createHash('sha256'), size: 0, waiting: '' }
    parts.set(stream, part)
    return part
  }
  const take = (part: Part): void => {
    part.sum.update(part.waiting)
    part.waiting = ''
  }
  return {
    add: (stream, message) => {
      const part = partOf(stream)
      part.size += 1
      part.waiting += `${messageText(message)}\n`
      if (part.waiting.length > waitingCharsMax) take(part)
    },
    value: () =>
      combined(
        [...parts].map(([stream, part]) => {
          take(part)
          return { stream, size: part.size, hash: part.sum.copy().digest('hex') }
        }),
      ),
  }
}

const pageMessages = 1_000

/** Of all cells; what could not be decoded was neither seen nor decided. */
export const digestOf =
  (log: EventLog): TE.TaskEither<LogUnavailable, string> =>
  async () => {
    const heads = await log.heads()()
    if (E.isLeft(heads)) return heads
    const digest = logDigest()
    for (const { stream, size } of heads.right.filter((head) => !head.stream.startsWith(deadLetterPrefix)))
      for (let from = 0; from < size; from += pageMessages) {
        const page = await log.readMessages(stream, from, Math.min(pageMessages, size - from))()
        if (E.isLeft(page)) return page
        for (const message of page.right) digest.add(stream, message)
      }
    return E.right(digest.value())
  }
