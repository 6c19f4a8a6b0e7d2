import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { either as E, type taskEither as TE } from 'fp-ts'
import type Sqlite from 'better-sqlite3'
import type { LogUnavailable, NewEvent, StreamHead } from '../../domain/ports/event-log.ts'
import { appendQueue, type Flush } from '../chain/append-queue.ts'
import { hashAt, type AuditedLog, type LeafPage } from '../chain/audited-log.ts'
import { envelopeOf, genesis, leafHash, lineOf, parseLine, type Meta } from '../chain/stored-event.ts'
import { growth, subscription } from '../chain/subscription.ts'
import { sqliteDamage } from './damage.ts'
import { Damaged, faultOf } from './fault.ts'
import { createSchema, schemaState, schemaVersion } from './schema.ts'
import { writer } from './writer.ts'

export type SqliteDriver = typeof Sqlite

/** The optional dependency, or why it does not load. */
export const loadSqlite = async (): Promise<E.Either<string, SqliteDriver>> => {
  try {
    const { default: Driver } = await import('better-sqlite3')
    new Driver(':memory:').close() // The binary loads with the first database, not with the module.
    return E.right(Driver)
  } catch (cause) {
    const said = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0]!
    return E.left(said.replace(/ imported from .*/, '')) // Where our own modules lie helps nobody.
  }
}

export interface SqliteOptions {
  readonly readOnly?: boolean
  /** How long a flush waits for another process that is writing. The event loop waits with it. */
  readonly lockWaitMs?: number
  /** SQLite's own limit of the file's size, in pages of 8 KiB. */
  readonly pagesMax?: number
}

/*
 * A row that crosses from SQLite to JavaScript costs a microsecond, a page of them as one text a fraction: so SQLite
 * joins the rows and JavaScript splits or parses the text. Texts beyond 128 KiB cost half as much again.
 */
const pageEvents = 128
const pageTexts = 256

/** `,` and line feed cannot occur in what they join: numbers and names, and JSON without white space. */
const leafColumns = `
  group_concat(format('{"position":%d,"stream":"%s","revision":%d,"version":%d,"meta":%s,"message":%s,"previousHash":"%s"}',
    position, stream, revision, version, meta, message, lower(hex(previous_hash))), char(10)),
  group_concat(hex(hash), ''), count(*)`

const queries = {
  leavesByPosition: `SELECT ${leafColumns} FROM event WHERE position >= ? AND position < ?`,
  leavesByRevision: `SELECT ${leafColumns} FROM event WHERE stream = ? AND revision >= ? AND revision < ?`,
  messages: `SELECT group_concat(message), count(*) FROM event WHERE stream = ? AND revision >= ? AND revision < ?`,
  metas: `SELECT group_concat(meta), count(*) FROM event WHERE stream = ? AND revision >= ? AND revision < ?`,
  nextPosition: `SELECT min(position) FROM event WHERE position >= ?`,
  nextRevision: `SELECT min(revision) FROM event WHERE stream = ? AND revision >= ?`,
  lastPosition: `SELECT max(position) FROM event`,
  lastRevision: `SELECT max(revision) FROM event WHERE stream = ?`,
  known: `SELECT id FROM event WHERE stream = ? AND id IN (SELECT value FROM json_each(?))`,
  // Jumps from stream to stream along the index instead of reading all of it.
  heads: `
    WITH RECURSIVE name (stream) AS (
      SELECT min(stream) FROM event
      UNION ALL SELECT (SELECT min(stream) FROM event WHERE stream > name.stream) FROM name WHERE name.stream IS NOT NULL
    )
    SELECT event.stream AS stream, event.revision + 1 AS size, lower(hex(event.hash)) AS hash
    FROM name JOIN event ON event.stream = name.stream
      AND event.revision = (SELECT max(revision) FROM event WHERE stream = name.stream)
    ORDER BY event.stream`,
}

/** The log in one SQLite file: WAL, `synchronous = FULL`, so an append is acknowledged after its flush to the disk. */
export const sqliteEventLog =
  (Driver: SqliteDriver, file: string, options: SqliteOptions = {}): TE.TaskEither<LogUnavailable, AuditedLog> =>
  async () => {
    const readOnly = options.readOnly === true
    const toFault = faultOf(file)
    if (readOnly) {
      const there = await access(file, constants.F_OK).then(
        () => true,
        () => false,
      )
      if (!there) return E.left(absent(file))
    }
    return E.flatten(
      E.tryCatch(() => {
        const db = new Driver(file, { readonly: readOnly, timeout: options.lockWaitMs ?? 1_000 })
        try {
          return E.map(() => openedLog(db, file, readOnly))(prepared(db, file, options))
        } catch (cause) {
          db.close()
          throw cause
        }
      }, toFault),
    )
  }

const absent = (file: string): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'absent',
  reason: `${file}: there is no log`,
  mend: 'name the folder of one, or write one first',
})

const prepared = (
  db: Sqlite.Database,
  file: string,
  { readOnly = false, pagesMax }: SqliteOptions,
): E.Either<LogUnavailable, void> => {
  // What the file says about itself is not trusted: it may be damaged.
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
  const refuse = (fault: LogUnavailable): E.Either<LogUnavailable, void> => {
    db.close()
    return E.left(fault)
  }
  if (schemaState(db) === 'empty') {
    if (readOnly) return refuse(absent(file))
    createSchema(db)
  }
  const state = schemaState(db)
  if (typeof state === 'object')
    return refuse({
      type: 'LogUnavailable',
      kind: 'newer-schema',
      reason: `${file}: a newer release wrote it (schema ${state.newer}, this one knows ${schemaVersion})`,
      mend: 'use that release or a later one',
    })
  if (state !== 'current') throw new Damaged('it is no log of Leasehold, or its header is damaged')
  if (readOnly) return E.right(undefined)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  // 32 MiB of pages to copy back at a time: the pages of the indexes are written again and again meanwhile.
  db.pragma('wal_autocheckpoint = 4000')
  if (pagesMax !== undefined) db.pragma(`max_page_count = ${pagesMax}`)
  return E.right(undefined)
}

type LeafRow = [leaves: string | null, hashes: string | null, count: number]
type JsonRow = [joined: string | null, count: number]

const openedLog = (db: Sqlite.Database, file: string, readOnly: boolean): AuditedLog => {
  const toFault = faultOf(file)
  const leavesByPosition = db.prepare<[number, number], LeafRow>(queries.leavesByPosition).raw()
  const leavesByRevision = db.prepare<[string, number, number], LeafRow>(queries.leavesByRevision).raw()
  const messages = db.prepare<[string, number, number], JsonRow>(queries.messages).raw()
  const metas = db.prepare<[string, number, number], JsonRow>(queries.metas).raw()
  const nextPosition = db.prepare<[number], number | null>(queries.nextPosition).pluck()
  const nextRevision = db.prepare<[string, number], number | null>(queries.nextRevision).pluck()
  const lastPosition = db.prepare<[], number | null>(queries.lastPosition).pluck()
  const lastRevision = db.prepare<[string], number | null>(queries.lastRevision).pluck()
  const known = db.prepare<[string, string], string>(queries.known).pluck()
  const heads = db.prepare<[], StreamHead>(queries.heads)
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const grown = growth()

  /** @throws Damaged when the texts do not have the parts that the count asks for */
  const leavesOf = ([joined, hashes, count]: LeafRow, from: number): Omit<LeafPage, 'next'> => {
    if (count === 0) return { leaves: [], hashes: '' }
    const leaves = joined?.split('\n') ?? []
    if (leaves.length !== count || hashes?.length !== count * 64)
      throw new Damaged(`an event from position or revision ${from} on is not as it was written`)
    return { leaves, hashes: hashes.toLowerCase() }
  }
  const linesOf = (row: LeafRow, from: number): ReadonlyArray<string> => {
    const { leaves, hashes } = leavesOf(row, from)
    return leaves.map((text, i) => lineOf({ text, hash: hashAt(hashes, i) }))
  }

  /** Reads by pages; a page that is short although more follows has lost an event. */
  const paged = <A>(
    from: number,
    limit: number,
    size: number,
    read: (from: number, to: number) => ReadonlyArray<A>,
    next: (from: number) => number | null | undefined,
    place: string,
  ): ReadonlyArray<A> => {
    const all: A[] = []
    const end = Math.min(from + limit, Number.MAX_SAFE_INTEGER)
    for (let at = from; at < end;) {
      const to = Math.min(at + size, end)
      const page = read(at, to)
      if (all.length === 0 && to === end) {
        if (page.length < to - at && (next(at + page.length) ?? null) !== null) throw lost(at, to, next, place)
        return page
      }
      for (const one of page) all.push(one)
      if (page.length < to - at) {
        if ((next(at + page.length) ?? null) !== null) throw lost(at, to, next, place)
        return all
      }
      at = to
    }
    return all
  }
  const lost = (
    from: number,
    to: number,
    next: (from: number) => number | null | undefined,
    place: string,
  ): Damaged => {
    let missing = from
    while (missing < to && next(missing) === missing) missing += 1
    return new Damaged(`the event of ${place} ${missing} is missing`, place === 'position' ? missing : undefined)
  }
  const linesByPosition = (from: number, limit: number): ReadonlyArray<string> =>
    paged(
      from,
      limit,
      pageEvents,
      (at, to) => linesOf(leavesByPosition.get(at, to)!, at),
      (at) => nextPosition.get(at),
      'position',
    )
  const linesByRevision = (stream: string, from: number, limit: number): ReadonlyArray<string> =>
    paged(
      from,
      limit,
      pageEvents,
      (at, to) => linesOf(leavesByRevision.get(stream, at, to)!, at),
      (at) => nextRevision.get(stream, at),
      `${stream}, revision`,
    )
  /** What each event of a stream has in one column. @throws Damaged when the texts are not as many as the rows */
  const jsonByRevision = (
    column: Sqlite.Statement<[string, number, number], JsonRow>,
    stream: string,
    from: number,
    limit: number,
  ): ReadonlyArray<unknown> =>
    paged(
      from,
      limit,
      pageTexts,
      (at, to) => {
        const [joined, count] = column.get(stream, at, to)!
        const page = JSON.parse(`[${joined ?? ''}]`) as ReadonlyArray<unknown>
        if (page.length !== count)
          throw new Damaged(`an event of ${stream} from revision ${at} on is not as it was written`)
        return page
      },
      (at) => nextRevision.get(stream, at),
      `${stream}, revision`,
    )

  /** Of one state of the log: where another process appends between two statements, a page would seem to miss an event. */
  const atOnce = <A>(read: () => A): A => db.transaction(read)()
  const reading =
    <A>(read: () => A): TE.TaskEither<LogUnavailable, A> =>
    () =>
      Promise.resolve(E.tryCatch(readOnly ? () => atOnce(read) : read, toFault))
  const readAll: AuditedLog['readAll'] = (from, limit) => reading(() => linesByPosition(from, limit).map(parseLine))

  const queue = appendQueue(
    readOnly
      ? refuseAll(file)
      : writer(db, {
          toFault,
          lastPosition: () => lastPosition.get() ?? -1,
          dataVersion: () => dataVersion.get()!,
          head: (stream) => {
            const revision = lastRevision.get(stream) ?? -1
            if (revision < 0) return { revision, hash: genesis }
            const { leaves, hashes } = leavesOf(leavesByRevision.get(stream, revision, revision + 1)!, revision)
            // What is damaged is not built upon.
            if (leaves.length !== 1 || leafHash(leaves[0]!) !== hashes)
              throw new Damaged(`the last event of ${stream}, revision ${revision}, is damaged`)
            return { revision, hash: hashes }
          },
          holds: (stream, id) => known.get(stream, JSON.stringify([id])) !== undefined,
          announce: grown.announce,
        }),
  )
  return {
    append: queue.append,
    readAll,
    readStream: (stream, from, limit) => reading(() => linesByRevision(stream, from, limit).map(parseLine)),
    readMessages: (stream, from, limit) =>
      reading(() => jsonByRevision(messages, stream, from, limit) as ReadonlyArray<NewEvent['message']>),
    readEnvelopes: (stream, from, limit) =>
      reading(() => (jsonByRevision(metas, stream, from, limit) as ReadonlyArray<Meta>).map(envelopeOf)),
    known: (stream, ids) => reading(() => new Set(known.all(stream, JSON.stringify(ids)))),
    heads: () => reading(() => heads.all()),
    leaves: (from, limit) =>
      reading((): LeafPage => {
        const page = leavesOf(leavesByPosition.get(from, from + limit)!, from)
        return { ...page, next: nextPosition.get(from + page.leaves.length) ?? null }
      }),
    damage: () => sqliteDamage(db, file),
    subscribe: (checkpoint, handle) => subscription(readAll, grown, checkpoint, handle),
    close: async () => {
      await queue.close()
      db.close()
      grown.announce()
    },
  }
}

const refuseAll =
  (file: string): Flush =>
  (batch) =>
    batch.map(() =>
      E.left({
        type: 'LogUnavailable',
        kind: 'read-only',
        reason: `${file}: it was opened for reading only`,
        mend: 'open it for writing',
      }),
    )
