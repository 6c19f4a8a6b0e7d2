import { either as E } from 'fp-ts'
import type Sqlite from 'better-sqlite3'
import type { LogUnavailable, NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'
import type { AppendOutcome, Flush, PendingAppend } from '../chain/append-queue.ts'
import { leafHash, leafText, messageText, metaText } from '../chain/stored-event.ts'
import { Damaged } from './fault.ts'

/** Streams whose heads are remembered between appends. */
const headsMax = 10_000

const insertion = `
  INSERT INTO event (position, stream, revision, version, id, meta, message, previous_hash, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?)) ON CONFLICT DO NOTHING`

interface Head {
  revision: number
  hash: string
}

interface WriterQueries {
  readonly toFault: (cause: unknown) => LogUnavailable
  readonly lastPosition: () => number
  /** Changes when another connection has committed. */
  readonly dataVersion: () => number
  readonly head: (stream: string) => Head
  readonly holds: (stream: string, id: string) => boolean
  readonly announce: (appended: ReadonlyArray<StoredEvent>) => void
}

/** Stores what waits in one transaction, and remembers the heads of streams until another connection has written. */
export const writer = (
  db: Sqlite.Database,
  { toFault, lastPosition, dataVersion, head, holds, announce }: WriterQueries,
): Flush => {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const insert = db.prepare<[number, string, number, number, string, string, string, string, string]>(insertion)
  const remove = db.prepare<[number]>('DELETE FROM event WHERE position >= ?')
  const heads = new Map<string, Head>()
  let position = -1
  let seenVersion: number | null = null
  let stored: StoredEvent[] = []

  const headOf = (stream: string): Head => {
    const remembered = heads.get(stream)
    if (remembered !== undefined) return remembered
    if (heads.size >= headsMax) heads.clear()
    const loaded = head(stream)
    heads.set(stream, loaded)
    return loaded
  }
  const store = ({ stream, expected, events }: PendingAppend): AppendOutcome => {
    const at = headOf(stream)
    if (at.revision !== expected)
      return E.left({ type: 'WrongExpectedRevision', stream, expected, actual: at.revision })
    const first = position + 1
    const before = stored.length
    let { hash } = at
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!
      const { id, version } = event
      const meta = metaText(event)
      const message = messageText(event.message)
      const revision = expected + 1 + i
      const previous = hash
      hash = leafHash(leafText(first + i, stream, revision, version, meta, message, previous))
      const { changes } = insert.run(first + i, stream, revision, version, id, meta, message, previous, hash)
      if (changes === 1) {
        stored.push(storedEvent(event, first + i, stream, revision, previous, hash))
        continue
      }
      if (!holds(stream, id)) throw new Damaged(`position ${first + i} or revision ${revision} of ${stream} is taken`)
      if (i > 0) remove.run(first)
      stored.length = before
      return E.left({ type: 'DuplicateId', stream, id })
    }
    at.revision += events.length
    at.hash = hash
    position += events.length
    return E.right({ revision: at.revision, position })
  }
  return (batch) => {
    try {
      begin.run()
      const version = dataVersion()
      if (version !== seenVersion) {
        heads.clear()
        position = lastPosition()
        seenVersion = version
      }
      stored = []
      const outcomes = batch.map(store)
      commit.run()
      announce(stored)
      return outcomes
    } catch (cause) {
      // What is remembered may be ahead of what is stored; the next flush asks again.
      heads.clear()
      seenVersion = null
      const fault = toFault(cause)
      try {
        if (db.open && db.inTransaction) db.exec('ROLLBACK')
      } catch {
        // SQLite has rolled back by itself.
      }
      return batch.map(() => E.left(fault))
    }
  }
}

const storedEvent = (
  { id, source, actor, recordTime, causation, correlation, policy, reason, message, version }: NewEvent,
  position: number,
  stream: string,
  revision: number,
  previousHash: string,
  hash: string,
): StoredEvent => ({
  position,
  stream,
  revision,
  id,
  source,
  actor,
  recordTime,
  causation,
  correlation,
  policy,
  ...(reason === undefined ? none : { reason }),
  message: { at: message.at, data: message.data, type: message.type },
  version,
  previousHash,
  hash,
})

const none = {}
