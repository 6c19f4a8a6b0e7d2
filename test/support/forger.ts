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
    const { stream, type, version, eventTime, meta, data } = event
    const head = heads.get(stream) ?? { revision: -1, hash: '0'.repeat(64) }
    const previousHash = head.hash
    const revision = head.revision + 1
    const leaf =
      `{"position":${position},"stream":"${stream}","revision":${revision},"type":"${type}","version":${version},` +
      `"eventTime":${eventTime},"meta":${meta},"data":${data},"previousHash":"${previousHash}"}`
    const hash = sha256(leaf)
    heads.set(stream, { revision, hash })
    return { ...event, position, revision, leaf, previousHash, hash }
  })
}

type Change = Parameters<typeof forge>[1]

const forgeSqlite = (file: string, change: Change): void => {
  const db = new Sqlite(file)
  const events = db
    .prepare<[], ForgedEvent>(
      'SELECT stream, type, version, event_time AS eventTime, meta, data FROM event ORDER BY position',
    )
    .all()
  const insert = db.prepare(
    `INSERT INTO event (position, stream, revision, type, version, event_time, id, meta, data, previous_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?))`,
  )
  db.transaction(() => {
    db.exec('DELETE FROM event')
    for (const one of chained(change(events))) {
      const { position, stream, revision, type, version, eventTime, meta, data, previousHash, hash } = one
      const { id } = JSON.parse(meta) as { id: string }
      insert.run(position, stream, revision, type, version, eventTime, id, meta, data, previousHash, hash)
    }
  })()
  db.close()
}

const forgeLines = (file: string, change: Change): void => {
  const events = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): ForgedEvent => {
      const event = JSON.parse(line) as Omit<ForgedEvent, 'meta' | 'data'> & { meta: object; data: object }
      return { ...event, meta: JSON.stringify(event.meta), data: JSON.stringify(event.data) }
    })
  const lines = chained(change(events)).map(({ leaf, hash }) => `${leaf.slice(0, -1)},"hash":"${hash}"}`)
  writeFileSync(file, `${lines.join('\n')}\n\n`)
}
