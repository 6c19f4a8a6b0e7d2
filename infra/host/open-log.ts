import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../chain/audited-log.ts'
import type { LogHead } from '../chain/chain-head.ts'
import { verify, type Verification } from '../chain/verify.ts'
import { describePlace, type EventStorePlace } from '../eventstore/place.ts'
import { fileEventLog } from '../file/event-log.ts'
import { loadSqlite, sqliteEventLog, type SqliteDriver } from '../sqlite/event-log.ts'

export interface OpenedLog {
  readonly log: AuditedLog
  readonly kind: LogKind
  readonly path: string
  /** Why it is of this kind, as `doctor` says it. */
  readonly because: string
}

export type LogKind = 'sqlite' | 'file' | 'eventstore'

/** A data folder, or a server. */
export type LogPlace = string | EventStorePlace

export interface LogChoice {
  readonly kind: LogKind
  readonly path: string
  readonly because: string
}

export interface OpenOptions {
  readonly readOnly?: boolean
  /** To be read as soon as somebody has written it: on a server, where nothing shows that somebody will. */
  readonly awaited?: boolean
  /** For tests: how the SQLite driver is had. */
  readonly load?: () => Promise<E.Either<string, SqliteDriver>>
}

const nameOf = { sqlite: 'log.sqlite', file: 'log.ndjson' } as const

type Chosen = LogChoice & { readonly driver: SqliteDriver | null }

const chosenServer = (server: EventStorePlace): LogChoice => ({
  kind: 'eventstore',
  path: describePlace(server),
  because: 'the configuration names a server',
})

const choose = async (
  folder: string,
  { readOnly = false, load = loadSqlite }: OpenOptions,
): Promise<E.Either<LogUnavailable, Chosen>> => {
  const sqlite = join(folder, nameOf.sqlite)
  const file = join(folder, nameOf.file)
  const entries = { sqlite: entryAt(sqlite), file: entryAt(file) }
  if (entries.sqlite === 'unreachable' || entries.file === 'unreachable')
    return refuse('read-only', `${folder} cannot be looked into`, 'give this user the right to read it')
  for (const [kind, path] of [['sqlite', sqlite] as const, ['file', file] as const])
    if (entries[kind] === 'folder')
      return refuse('input-output', `${path} is a folder`, 'move it away: the log is a file of that name')
  const hasSqlite = entries.sqlite === 'file'
  const hasFile = entries.file === 'file'
  if (hasSqlite && hasFile)
    return refuse(
      'input-output',
      `${folder} holds two logs`,
      `keep ${nameOf.sqlite} or ${nameOf.file} and move the other away`,
    )
  if (hasFile) return E.right({ kind: 'file', path: file, driver: null, because: `the folder holds ${nameOf.file}` })
  if (readOnly && !hasSqlite)
    return refuse('absent', `${folder} holds no log`, 'name the folder of one, or write one first')
  const driver = await load()
  if (E.isRight(driver)) {
    const because = hasSqlite ? `the folder holds ${nameOf.sqlite}` : 'better-sqlite3 loads'
    return E.right({ kind: 'sqlite', path: sqlite, driver: driver.right, because })
  }
  if (hasSqlite)
    return refuse(
      'input-output',
      `${sqlite} needs better-sqlite3, which does not load: ${driver.left}`,
      'install python3, make and g++, then run `npm ci`; or name another folder',
    )
  return E.right({ kind: 'file', path: file, driver: null, because: `better-sqlite3 does not load: ${driver.left}` })
}

const entryAt = (path: string): 'none' | 'file' | 'folder' | 'unreachable' => {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file'
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EACCES' ? 'unreachable' : 'none'
  }
}

const refuse = (kind: LogUnavailable['kind'], reason: string, mend: string): E.Either<LogUnavailable, never> =>
  E.left({ type: 'LogUnavailable', kind, reason, mend })

/** Which log `openLog` would open, and why. Opens and creates nothing. */
export const chooseLog =
  (place: LogPlace, options: OpenOptions = {}): TE.TaskEither<LogUnavailable, LogChoice> =>
  async () => {
    if (typeof place !== 'string') return E.right(chosenServer(place))
    const chosen = await choose(place, options)
    if (E.isLeft(chosen)) return chosen
    const { kind, path, because } = chosen.right
    return E.right({ kind, path, because })
  }

/** The log on a server, or of a data folder: what is there decides; a new one is SQLite where its binary loads, else a file. */
export const openLog =
  (place: LogPlace, options: OpenOptions = {}): TE.TaskEither<LogUnavailable, OpenedLog> =>
  () =>
    typeof place === 'string' ? openFolderLog(place, options) : openServerLog(place, options)

/** Its client is loaded for nobody else. */
const openServerLog = async (
  server: EventStorePlace,
  { awaited = false, readOnly = false }: OpenOptions,
): Promise<E.Either<LogUnavailable, OpenedLog>> => {
  const { eventStoreLog } = await import('../eventstore/event-log.ts')
  const opened = await eventStoreLog(server, { awaited, readOnly })()
  return E.isLeft(opened) ? opened : E.right({ log: opened.right, ...chosenServer(server) })
}

const openFolderLog = async (folder: string, options: OpenOptions): Promise<E.Either<LogUnavailable, OpenedLog>> => {
  const { readOnly = false } = options
  if (!readOnly) {
    const made = makeFolder(folder)
    if (E.isLeft(made)) return made
  }
  const chosen = await choose(folder, options)
  if (E.isLeft(chosen)) return chosen
  const { kind, path, because, driver } = chosen.right
  const opened = await (
    driver === null ? fileEventLog(path, { readOnly }) : sqliteEventLog(driver, path, { readOnly })
  )()
  return E.isLeft(opened) ? opened : E.right({ log: opened.right, kind, path, because })
}

const makeFolder = (folder: string): E.Either<LogUnavailable, unknown> => {
  try {
    const parent = dirname(resolve(folder))
    // Node makes a folder and its parents at once too, but tells of a missing parent whatever the reason was.
    if (!existsSync(parent)) mkdirSync(parent, { recursive: true, mode: 0o700 })
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    if (statSync(folder).isDirectory()) return E.right(undefined)
    return refuse('input-output', `${folder} is no folder`, 'name a folder that can be written with --data')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    if (code === 'EEXIST') return E.right(undefined)
    const kind = code === 'ENOSPC' ? 'full' : ['EROFS', 'EACCES', 'EPERM'].includes(code) ? 'read-only' : 'input-output'
    return refuse(kind, `${folder} cannot be made: ${code}`, 'name a folder that can be written with --data')
  }
}

/** Verifies a log. Damage that keeps it from being opened is a finding like any other. */
export const auditLog =
  (place: LogPlace, expected: LogHead | null = null): TE.TaskEither<LogUnavailable, Verification> =>
  async () => {
    const opened = await openLog(place, { readOnly: true })()
    if (E.isRight(opened)) {
      const { log } = opened.right
      return E.right(await verify(log, expected).finally(log.close))
    }
    const { kind, reason, position = null } = opened.left
    if (kind !== 'damaged') return opened
    const finding = { position, stream: null, revision: null, reason }
    return E.right({ ok: false, events: position ?? 0, head: { size: 0, hash: '' }, findings: [finding] })
  }
