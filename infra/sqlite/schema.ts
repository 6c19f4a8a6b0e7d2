import type { Database } from 'better-sqlite3'

/** `Leas` in ASCII: the file says whose it is. */
const applicationId = 0x4c656173
export const schemaVersion = 1

/*
 * The hash of an event covers all of its columns, `id` through `meta`. Position, stream and revision are what the
 * readers go by; the two indexes serve `readStream` and `readMessages`, and `known` and the refusal of repeated ids.
 */
const tables = `
  CREATE TABLE event (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    id TEXT NOT NULL,
    meta TEXT NOT NULL,
    message TEXT NOT NULL,
    previous_hash BLOB NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX event_by_revision ON event (stream, revision);
  CREATE UNIQUE INDEX event_by_id ON event (stream, id);
`

export type SchemaState = 'current' | 'empty' | 'foreign' | { readonly newer: number }

const numberOf = (db: Database, query: string): number => db.prepare(query).pluck().get() as number

export const schemaState = (db: Database): SchemaState => {
  const version = numberOf(db, 'PRAGMA user_version')
  const owner = numberOf(db, 'PRAGMA application_id')
  if (version === schemaVersion && owner === applicationId) return 'current'
  if (version > schemaVersion && owner === applicationId) return { newer: version }
  const holds = numberOf(db, 'SELECT count(*) FROM sqlite_schema')
  return version === 0 && owner === 0 && holds === 0 ? 'empty' : 'foreign'
}

/** Two processes may get here at once: the second finds it done. */
export const createSchema = (db: Database): void => {
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.transaction(() => {
    if (schemaState(db) !== 'empty') return
    db.exec(tables)
    db.pragma(`application_id = ${applicationId}`)
    db.pragma(`user_version = ${schemaVersion}`)
  }).immediate()
}
