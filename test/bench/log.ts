import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { either as E } from 'fp-ts'
import type Sqlite from 'better-sqlite3'
import type { NewEvent } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { messageText, metaText } from '../../infra/chain/stored-event.ts'
import { verify } from '../../infra/chain/verify.ts'
import { sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { ratioOf, type Ratio, type Timed } from './ratio.ts'

/** In the sizes and the mix of a recorded openb run: submitted, admitted, sometimes held, ended, now and then a tick. */
export const madeUpEvents = (count: number): ReadonlyArray<NewEvent> =>
  Array.from({ length: count }, (_, i): NewEvent => {
    const job = Math.floor(i / 4)
    const workload = `openb-pod-${String(job).padStart(6, '0')}`
    const [type, data] = kinds[job % 5 === 0 ? i % 4 : [0, 1, 2, 4][i % 4]!]!(workload, job)
    return {
      id: `${type}/${workload}/1`,
      message: { type, at: (12_537_496_000 + i * 1_000) as NewEvent['message']['at'], data },
      version: 1,
      source: 'openb',
      actor: 'simulation',
      recordTime: (12_537_496_000 + i * 1_000) as NewEvent['recordTime'],
      causation: type === 'WorkloadAdmitted' || type === 'WorkloadHeld' ? `WorkloadSubmitted/${workload}/1` : null,
      correlation: workload,
      policy: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }
  })

type Kind = (workload: string, n: number) => readonly [string, NewEvent['message']['data']]
const kinds: ReadonlyArray<Kind> = [
  (workload, n) => [
    'WorkloadSubmitted',
    {
      class: 'default',
      estimateMs: 1_000 * (n % 100_000),
      queue: 'default',
      request: {
        cpuMilli: 6_000 + n,
        devices: 1 + (n % 8),
        hostMemoryMib: 12_288,
        memoryMib: null,
        milli: 1_000,
        models: n % 3 === 0 ? ['V100M16', 'V100M32'] : [],
        spread: false,
        topology: null,
      },
      team: 'default',
      workload,
    },
  ],
  (workload, n) => [
    'WorkloadAdmitted',
    {
      alternative: n % 2 === 0 ? { node: 'openb-node-0231', score: n } : null,
      attempt: 1,
      expectedEndAt: 12_537_496_000 + n * 7_000,
      freeMilli: 48_000 - (n % 48_000),
      lease: [{ devices: [0, 1, 2], memoryMib: 0, milli: 1_000, node: `openb-node-${n % 1_523}` }],
      needMilli: 3_000,
      rule: 'queues.default.ordering',
      score: n,
      waitedMs: n * 13,
      workload,
    },
  ],
  (workload) => ['AttemptEnded', { attempt: 1, outcome: 'succeeded', workload }],
  () => ['Ticked', {}],
  (workload, n) => [
    'WorkloadHeld',
    {
      behind: null,
      code: 'WaitingForCapacity',
      freeMilli: n % 48_000,
      largestDevices: n % 8,
      needDevices: 8,
      needMilli: 8_000,
      projectedStartAt: null,
      rule: 'queues.default.ordering',
      workload,
    },
  ],
]

const stream = 'cell'

/** A folder with a log of these events; `end` removes it. */
export const benchLog = async (
  Driver: typeof Sqlite,
  events: ReadonlyArray<NewEvent>,
): Promise<{ readonly log: AuditedLog; readonly stream: string; readonly end: () => Promise<void> }> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const log = taken(await sqliteEventLog(Driver, join(folder, 'log.sqlite'))())
  for (let from = 0; from < events.length; from += 1_000)
    taken(await log.append(stream, from - 1, events.slice(from, from + 1_000))())
  const end = async (): Promise<void> => {
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { log, stream, end }
}

const taken = <A>(either: E.Either<unknown, A>): A => {
  if (E.isLeft(either)) throw new Error(JSON.stringify(either.left))
  return either.right
}

/** `JSON.parse` alone over the bodies of these events, as they are stored. */
const parseAlone = (events: ReadonlyArray<NewEvent>): Timed => {
  const bodies = events.map(({ message }) => Buffer.from(messageText(message)).toString())
  return () => {
    const start = performance.now()
    let parsed = 0
    for (const body of bodies) if (typeof JSON.parse(body) === 'object') parsed += 1
    if (parsed !== bodies.length) throw new Error('a body is no object')
    return performance.now() - start
  }
}

/** The whole of `audit verify`, against `JSON.parse` alone over the same bodies. */
export const benchAuditVerify = async (Driver: typeof Sqlite, events: ReadonlyArray<NewEvent>): Promise<Ratio> => {
  const { log, end } = await benchLog(Driver, events)
  const ours: Timed = async () => {
    const start = performance.now()
    const { ok, findings } = await verify(log)
    if (!ok) throw new Error(JSON.stringify(findings[0]))
    return performance.now() - start
  }
  const ratio = await ratioOf('audit verify / JSON.parse', events.length, ours, parseAlone(events))
  await end()
  return ratio
}

/** 1,000 appends that wait share a flush (`each` 1), or one append brings 1,000 events (`each` 1,000). */
export const benchAppend = async (
  Driver: typeof Sqlite,
  events: ReadonlyArray<NewEvent>,
  each: number,
): Promise<Ratio> => {
  const inFolder = async (run: (folder: string) => Promise<number>): Promise<number> => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
    const ms = await run(folder)
    rmSync(folder, { recursive: true, force: true })
    return ms
  }
  const group = 1_000
  const ours: Timed = () =>
    inFolder(async (folder) => {
      const log = taken(await sqliteEventLog(Driver, join(folder, 'log.sqlite'))())
      const start = performance.now()
      for (let from = 0; from < events.length; from += group) {
        const acks: Promise<E.Either<unknown, unknown>>[] = []
        for (let at = from; at < from + group; at += each)
          acks.push(log.append(stream, at - 1, each === 1 ? [events[at]!] : events.slice(at, at + each))())
        for (const ack of await Promise.all(acks)) taken(ack)
      }
      const ms = performance.now() - start
      await log.close()
      return ms
    })
  const constant = Buffer.alloc(32)
  const bare: Timed = () =>
    inFolder((folder) => {
      const db = new Driver(join(folder, 'log.sqlite'))
      db.pragma('page_size = 8192')
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      db.exec(bareTables)
      const insert = db.prepare('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
      const start = performance.now()
      for (let from = 0; from < events.length; from += group) {
        db.exec('BEGIN IMMEDIATE')
        for (let at = from; at < from + group; at++) {
          const event = events[at]!
          const { id, message, version } = event
          insert.run(at, stream, at, version, id, metaText(event), JSON.stringify(message), constant, constant)
        }
        db.exec('COMMIT')
      }
      const ms = performance.now() - start
      db.close()
      return Promise.resolve(ms)
    })
  return ratioOf(`append, ${each} at a time / bare better-sqlite3`, events.length, ours, bare)
}

/** The columns and indexes of our own table. */
const bareTables = `
  CREATE TABLE event (
    position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, version INTEGER NOT NULL,
    id TEXT NOT NULL, meta TEXT NOT NULL, message TEXT NOT NULL,
    previous_hash BLOB NOT NULL, hash BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX event_by_revision ON event (stream, revision);
  CREATE UNIQUE INDEX event_by_id ON event (stream, id);
`
