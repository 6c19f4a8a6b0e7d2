import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'

/** An event as it is stored, but for what a forger has to make fit: position, revision and hashes. */
export interface ForgedEvent {
  readonly stream: string
  readonly type: string
  readonly version: number
  readonly eventTime: number
  readonly meta: string
  readonly data: string
}

/**
 * Rewrites a log as somebody would who can write to it and knows its form: events are changed, left out or put in, and
 * all positions, revisions and hashes are made to fit. It shares no code with the product.
 */
export const forge = (
  folder: string,
  change: (events: ReadonlyArray<ForgedEvent>) => ReadonlyArray<ForgedEvent>,
): void => {
  const file = join(folder, 'log.sqlite')
  if (existsSync(file)) forgeSqlite(file, change)
  else forgeLines(join(folder, 'log.ndjson'), change)
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

interface Chained extends ForgedEvent {
  readonly position: number
  readonly revision: number
  readonly leaf: string
  readonly previousHash: string
  readonly hash: string
}

const chained = (events: ReadonlyArray<ForgedEvent>): ReadonlyArray<Chained> => {
  const heads = new Map<string, { revision: number; hash: string }>()
  return events.map((event, position) => {
    const { stream, version, meta } = event
    const head = heads.get(stream) ?? { revision: -1, hash: '0'.repeat(64) }
    const previousHash = head.hash
    const revision = head.revision + 1
    const leaf =
      `{"position":${position},"stream":"${stream}","revision":${revision},"version":${version},` +
      `"meta":${meta},"message":${messageOf(event)},"previousHash":"${previousHash}"}`
    const hash = sha256(leaf)
    heads.set(stream, { revision, hash })
    return { ...event, position, revision, leaf, previousHash, hash }
  })
}

type Change = Parameters<typeof forge>[1]

const messageOf = ({ eventTime, data, type }: ForgedEvent): string =>
  `{"at":${eventTime},"data":${data},"type":"${type}"}`

const forgedOf = (stream: string, version: number, meta: string, message: Message): ForgedEvent => {
  const { at, data, type } = message
  return { stream, type, version, eventTime: at, meta, data: JSON.stringify(data) }
}

interface Message {
  readonly at: number
  readonly data: unknown
  readonly type: string
}

const forgeSqlite = (file: string, change: Change): void => {
  const db = new Sqlite(file)
  const events = db
    .prepare<[], { stream: string; version: number; meta: string; message: string }>(
      'SELECT stream, version, meta, message FROM event ORDER BY position',
    )
    .all()
    .map(({ stream, version, meta, message }) => forgedOf(stream, version, meta, JSON.parse(message) as Message))
  const insert = db.prepare(
    `INSERT INTO event (position, stream, revision, version, id, meta, message, previous_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?))`,
  )
  db.transaction(() => {
    db.exec('DELETE FROM event')
    for (const one of chained(change(events))) {
      const { position, stream, revision, version, meta, previousHash, hash } = one
      const { id } = JSON.parse(meta) as { id: string }
      insert.run(position, stream, revision, version, id, meta, messageOf(one), previousHash, hash)
    }
  })()
  db.close()
}

const forgeLines = (file: string, change: Change): void => {
  const events = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): ForgedEvent => {
      const event = JSON.parse(line) as { stream: string; version: number; meta: object; message: Message }
      return forgedOf(event.stream, event.version, JSON.stringify(event.meta), event.message)
    })
  const lines = chained(change(events)).map(({ leaf, hash }) => `${leaf.slice(0, -1)},"hash":"${hash}"}`)
  writeFileSync(file, `${lines.join('\n')}\n\n`)
}
