import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { findingsMax, type Finding } from '../chain/audited-log.ts'

/*
 * `integrity_check` proves page structure, and that each index holds exactly the keys of the rows, in order: with the
 * rows proven by their hashes, every query that goes by an index is right. What it does not know is that the id, which
 * `known` goes by, is the one in the hashed metadata.
 */
const checks = {
  integrity: `PRAGMA integrity_check(${findingsMax})`,
  ids: `SELECT position, stream, revision FROM event WHERE (meta ->> '$.id') IS NOT id LIMIT ${findingsMax}`,
}

/** Only when something is wrong: the rows that the queries by revision and by id do not lead to. */
const unreachable = {
  revision: `
    SELECT position, stream, revision FROM event AS row NOT INDEXED WHERE NOT EXISTS (
      SELECT 1 FROM event AS entry INDEXED BY event_by_revision
      WHERE entry.stream = row.stream AND entry.revision = row.revision AND entry.position = row.position
    ) LIMIT ${findingsMax}`,
  id: `
    SELECT position, stream, revision FROM event AS row NOT INDEXED WHERE NOT EXISTS (
      SELECT 1 FROM event AS entry INDEXED BY event_by_id
      WHERE entry.stream = row.stream AND entry.id = row.id AND entry.position = row.position
    ) LIMIT ${findingsMax}`,
}

type Place = Pick<Finding, 'position' | 'stream' | 'revision'>
type Answer<A> = { readonly rows: ReadonlyArray<A> } | { readonly failed: string }
interface Checked {
  readonly integrity: Answer<{ readonly integrity_check: string }>
  readonly ids: Answer<Place>
}

const nowhere: Place = { position: null, stream: null, revision: null }

export const sqliteDamage = async (db: Sqlite.Database, file: string): Promise<ReadonlyArray<Finding>> => {
  const here = (): Checked => ({ integrity: answer(db, checks.integrity), ids: answer(db, checks.ids) })
  const checked = isSmall(db) ? here() : await inWorker(file).catch(here)
  const findings: Finding[] = []
  if ('failed' in checked.ids) findings.push({ ...nowhere, reason: checked.ids.failed })
  else
    for (const place of checked.ids.rows) findings.push({ ...place, reason: 'its id is not the one of its metadata' })
  const complaints =
    'failed' in checked.integrity
      ? [checked.integrity.failed]
      : checked.integrity.rows.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  if (complaints.length === 0) return findings
  for (const [by, query] of Object.entries(unreachable)) {
    const rows = answer<Place>(db, query)
    if ('rows' in rows)
      for (const place of rows.rows) findings.push({ ...place, reason: `it is not found by its ${by}` })
  }
  for (const reason of complaints) findings.push({ ...nowhere, reason })
  return findings.slice(0, findingsMax)
}

/** Small enough that starting a worker would take longer. */
const isSmall = (db: Sqlite.Database): boolean => {
  const pages = answer<{ readonly page_count: number }>(db, 'PRAGMA page_count')
  return 'failed' in pages || (pages.rows[0]?.page_count ?? 0) < 1_000
}

const answer = <A>(db: Sqlite.Database, query: string): Answer<A> => {
  try {
    return { rows: db.prepare<[], A>(query).all() }
  } catch (cause) {
    return { failed: cause instanceof Error ? cause.message : String(cause) }
  }
}

/** Over a connection of its own, so that it runs beside the hashing. It is JavaScript as text: a worker has no other form that runs both from source and when built. */
const inWorker = (file: string): Promise<Checked> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       const Driver = require(workerData.driver)
       const db = new Driver(workerData.file, { readonly: true })
       const answer = (query) => {
         try { return { rows: db.prepare(query).all() } } catch (cause) { return { failed: cause.message } }
       }
       parentPort.postMessage({ integrity: answer(workerData.checks.integrity), ids: answer(workerData.checks.ids) })
       db.close()`,
      { eval: true, workerData: { driver: createRequire(import.meta.url).resolve('better-sqlite3'), file, checks } },
    )
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => {
      reject(new Error('the worker ended without an answer'))
    })
  })
