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
  // The first test is the quick one; what it does not find may have been escaped.
  ids: `
    SELECT position, stream, revision FROM event
    WHERE instr(meta, '"id":"' || id || '"') = 0 AND (meta ->> '$.id') IS NOT id LIMIT ${findingsMax}`,
}

/**
 * Only when something is wrong: the rows that the queries by revision and by id do not lead to. The range and the plus
 * signs make SQLite read the entry that it has found, instead of taking it for what was sought.
 */
const unreachableBy = (index: string, key: string): string => `
  SELECT position, stream, revision FROM event AS row NOT INDEXED
  WHERE position >= ? AND position < ? AND NOT EXISTS (
    SELECT 1 FROM event AS entry INDEXED BY ${index}
    WHERE entry.stream = row.stream AND entry.${key} BETWEEN row.${key} AND row.${key}
      AND +entry.stream = row.stream AND +entry.${key} = row.${key} AND entry.position = row.position
  ) LIMIT ${findingsMax}`

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
  const last = answer<{ readonly last: number | null }>(db, 'SELECT max(position) AS last FROM event')
  const end = 'failed' in last ? 0 : (last.rows[0]?.last ?? -1) + 1
  findings.push(...unreachable(db, 'revision', unreachableBy('event_by_revision', 'revision'), 0, end))
  findings.push(...unreachable(db, 'id', unreachableBy('event_by_id', 'id'), 0, end))
  // Those that name an event are kept before those that do not.
  const general = complaints.map((reason) => ({ ...nowhere, position: positionIn(reason), reason }))
  return [...findings, ...general].slice(0, findingsMax)
}

/** `row 8 missing from index event_by_id`: rows count from 1, in order of position. */
const positionIn = (complaint: string): number | null => {
  const row = /\brow (\d+)\b/.exec(complaint)?.[1]
  return row === undefined ? null : Number(row) - 1
}

/** Where the index itself cannot be read, the halves are asked, down to the single event. */
const unreachable = (
  db: Sqlite.Database,
  by: string,
  query: string,
  from: number,
  to: number,
): ReadonlyArray<Finding> => {
  const rows = answer<Place>(db, query, from, to)
  if ('rows' in rows) return rows.rows.map((place) => ({ ...place, reason: `it is not found by its ${by}` }))
  if (to - from <= 1) return [{ ...nowhere, position: from, reason: `it is not found by its ${by}: ${rows.failed}` }]
  const middle = from + Math.floor((to - from) / 2)
  const lower = unreachable(db, by, query, from, middle)
  return lower.length >= findingsMax ? lower : [...lower, ...unreachable(db, by, query, middle, to)]
}

/** Small enough that starting a worker would take longer. */
const isSmall = (db: Sqlite.Database): boolean => {
  const pages = answer<{ readonly page_count: number }>(db, 'PRAGMA page_count')
  return 'failed' in pages || (pages.rows[0]?.page_count ?? 0) < 1_000
}

const answer = <A>(db: Sqlite.Database, query: string, ...values: ReadonlyArray<number>): Answer<A> => {
  try {
    return { rows: db.prepare<number[], A>(query).all(...values) }
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
