import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import Sqlite from 'better-sqlite3'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { describe, expect, it } from 'vitest'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { headOf, type LogHead } from '../../infra/chain/chain-head.ts'
import { verify, type Verification } from '../../infra/chain/verify.ts'
import { auditLog, openLog } from '../../infra/host/open-log.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { fillSmall, left, newEvent, newEvents, right, seenBy } from '../support/events.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()
const streams = ['cell-a', 'cell-b']
const ids = ['policy', 'a-0', 'a-1', 'a-2', 'a-0/admitted', 'tick', 'b-0', 'b-1', 'nobody']

/** A number below `end`, from a seed. */
const dice = (seed: number): ((end: number) => number) => {
  const state = xoroshiro128plus(seed)
  return (end) => uniformInt(state, 0, end - 1)
}

const noDriver = () => Promise.resolve(E.left('left out by the test'))
const stored = async (kind: 'sqlite' | 'file', fill = fillSmall): Promise<{ folder: string; head: LogHead }> => {
  const folder = folderFor()
  const { log } = await right(openLog(folder, kind === 'file' ? { load: noDriver } : {}))
  await fill(log)
  const head = await right(headOf(log))
  await log.close()
  return { folder, head }
}
const audit = (folder: string, head: LogHead | null = null): Promise<Verification> => right(auditLog(folder, head))
const positionsOf = ({ findings }: Verification): ReadonlyArray<number | null> =>
  findings.map(({ position }) => position)
const flip = (bytes: Buffer, bit: number): void => {
  bytes[bit >> 3]! ^= 1 << (bit & 7)
}

/** Runs with one bit of the file flipped, and sets it right again. */
const withFlipped = async <A>(path: string, bytes: Buffer, bit: number, run: () => Promise<A>): Promise<A> => {
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Uint8Array.of(bytes[bit >> 3]! ^ (1 << (bit & 7))), 0, 1, bit >> 3)
    return await run()
  } finally {
    writeSync(file, bytes, bit >> 3, 1, bit >> 3)
    closeSync(file)
  }
}

/** What a folder shows to its readers after damage: nothing where the log does not open. */
const readersOf = async (folder: string): Promise<unknown> => {
  const opened = await openLog(folder, { readOnly: true })()
  if (E.isLeft(opened)) return opened.left.kind
  const seen = await seenBy(opened.right.log, streams, ids)
  await opened.right.log.close()
  return seen
}
const isFound = async (folder: string): Promise<boolean> => {
  const audited = await auditLog(folder)()
  return E.isLeft(audited) || !audited.right.ok
}

describe('one flipped bit in SQLite', () => {
  const columns = ['position', 'stream', 'revision', 'version', 'id', 'meta', 'message', 'previous_hash', 'hash']

  it.each(columns)('should be found by its position in every bit of the column %s', async (column) => {
    const { folder } = await stored('sqlite', async (log) => {
      await right(log.append('cell-a', -1, newEvents('a', 2)))
      await right(log.append('cell-b', -1, [newEvent('tick', {}, { type: 'Ticked', policy: 'p' })]))
      await right(log.append('cell-a', 1, [newEvent('ü', { name: '😀' })]))
    })
    const { log } = await right(openLog(folder))
    const db = new Sqlite(join(folder, 'log.sqlite'))
    db.pragma('synchronous = OFF')
    const rows = db.prepare(`SELECT * FROM event ORDER BY position`).all() as { readonly [column: string]: unknown }[]
    const isText = typeof rows[0]![column] === 'string'
    const isNumber = typeof rows[0]![column] === 'number'
    const update = db.prepare(`UPDATE event SET ${column} = ${isText ? 'CAST(? AS TEXT)' : '?'} WHERE position = ?`)
    let flips = 0
    for (const row of rows) {
      const position = row['position'] as number
      const bytes = isNumber ? Buffer.alloc(8) : Buffer.from(row[column] as string)
      if (isNumber) bytes.writeBigInt64LE(BigInt(row[column] as number))
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const damaged = Buffer.from(bytes)
        flip(damaged, bit)
        const value = isNumber ? damaged.readBigInt64LE() : damaged
        let at: unknown = position
        try {
          update.run(value, position)
        } catch (cause) {
          // Two events in one place: the schema holds no such thing.
          expect(String(cause)).toContain('UNIQUE')
          continue
        }
        if (column === 'position') at = value
        const found = await verify(log)
        if (!positionsOf(found).includes(position))
          expect({ column, position, bit, found }).toBe('found by its position')
        update.run(isNumber ? BigInt(row[column] as number) : Buffer.from(row[column] as string), at)
        flips += 1
      }
    }
    expect((await verify(log)).findings).toEqual([])
    expect(flips).toBeGreaterThan(60)
    db.close()
    await log.close()
  })

  /** Copies of a closed log, each with one bit of its file flipped; returns how many were found. */
  const flipped = async (bits: Iterable<number>, folder: string): Promise<number> => {
    const before = JSON.stringify(await readersOf(folder))
    const bytes = readFileSync(join(folder, 'log.sqlite'))
    const copy = join(folder, 'copy')
    let found = 0
    for (const bit of bits) {
      rmSync(copy, { recursive: true, force: true })
      mkdirSync(copy)
      const damaged = Buffer.from(bytes)
      flip(damaged, bit)
      writeFileSync(join(copy, 'log.sqlite'), damaged)
      if (await isFound(copy)) found += 1
      else expect({ bit, seen: JSON.stringify(await readersOf(copy)) }).toEqual({ bit, seen: before })
    }
    return found
  }

  it('should be found anywhere in the file, or change nothing that is read', async () => {
    const { folder } = await stored('sqlite')
    const bytes = readFileSync(join(folder, 'log.sqlite'))
    const roll = dice(1)
    const anywhere = Array.from({ length: 150 }, () => roll(bytes.length * 8))
    // Most of a small file is empty: as many again where something is written.
    const written = [...bytes.entries()].filter(([, byte]) => byte !== 0).map(([offset]) => offset)
    const used = Array.from({ length: 450 }, () => written[roll(written.length)]! * 8 + roll(8))
    expect(await flipped([...anywhere, ...used], folder)).toBeGreaterThan(300)
  })

  it('should be found in every bit of the header of the file and of each page, or change nothing', async () => {
    const { folder } = await stored('sqlite')
    const db = new Sqlite(join(folder, 'log.sqlite'), { readonly: true })
    const pageSize = db.pragma('page_size', { simple: true }) as number
    const pages = db.pragma('page_count', { simple: true }) as number
    db.close()
    const bits: number[] = []
    for (let bit = 0; bit < 108 * 8; bit++) bits.push(bit)
    for (let page = 1; page < pages; page++) for (let bit = 0; bit < 24 * 8; bit++) bits.push(page * pageSize * 8 + bit)
    expect(await flipped(bits, folder)).toBeGreaterThan(200)
  })

  it('should be found in every bit of the keys of the indexes, by its position where anything read differs', async () => {
    const { folder } = await stored('sqlite')
    const bytes = readFileSync(join(folder, 'log.sqlite'))
    const db = new Sqlite(join(folder, 'log.sqlite'), { readonly: true })
    const pageSize = db.pragma('page_size', { simple: true }) as number
    const roots = db.prepare(`SELECT rootpage FROM sqlite_schema WHERE type = 'index'`).pluck().all() as number[]
    db.close()
    const before = JSON.stringify(await readersOf(folder))
    for (const root of roots) {
      const page = bytes.subarray((root - 1) * pageSize, root * pageSize)
      const content = page.readUInt16BE(5)
      for (let bit = content * 8; bit < pageSize * 8; bit++) {
        await withFlipped(join(folder, 'log.sqlite'), bytes, (root - 1) * pageSize * 8 + bit, async () => {
          const found = await audit(folder)
          expect(found.ok).toBe(false)
          if (found.findings.some(({ position }) => position !== null)) return
          // Bytes of an entry that no query looks at: its page says so, and no event is wrong.
          expect({ root, bit, seen: JSON.stringify(await readersOf(folder)) }).toEqual({ root, bit, seen: before })
        })
      }
    }
  })
})

describe('one flipped bit in the file log', () => {
  it('should be found by its position in every bit', async () => {
    const { folder } = await stored('file')
    const path = join(folder, 'log.ndjson')
    const bytes = readFileSync(path)
    let position = 0
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      if (bit % 8 === 0 && bytes[(bit >> 3) - 1] === 0x0a && bytes[bit >> 3] !== 0x0a) position += 1
      // The empty line after a flush may be taken for the beginning of the next event.
      const isMark = bytes[bit >> 3] === 0x0a
      await withFlipped(path, bytes, bit, async () => {
        const found = await audit(folder)
        const at = positionsOf(found)[0]
        if (at !== position && !(isMark && at === position + 1))
          expect({ bit, position, found }).toBe('found by its position')
        if (bit % 97 !== 0) return
        const damaged = readFileSync(path)
        expect(await left(openLog(folder))).toMatchObject({ kind: 'damaged', position: at })
        expect(readFileSync(path).equals(damaged)).toBe(true)
      })
    }
  })
})

describe('a log with a cut tail', () => {
  it('should be found with its head, at every length of a file log, and never lose a whole flush', async () => {
    const { folder, head } = await stored('file')
    const path = join(folder, 'log.ndjson')
    const bytes = readFileSync(path)
    const flushes = bytes
      .toString('latin1')
      .split('\n\n')
      .slice(0, -1)
      .map((text) => text.split('\n').length)
    for (let length = bytes.length - 1; length > 0; length -= 7) {
      writeFileSync(path, bytes.subarray(0, length))
      const found = await audit(folder, head)
      expect(found.ok).toBe(false)
      expect(found.findings.at(-1)!.reason).toContain('cut off')
      const { log } = await right(openLog(folder))
      const whole = bytes.subarray(0, length).toString('latin1').split('\n\n').length - 1
      expect(await right(log.readAll(0, 100))).toHaveLength(flushes.slice(0, whole).reduce((a, b) => a + b, 0))
      await log.close()
    }
  })

  it('should be found with its head in SQLite', async () => {
    const { folder, head } = await stored('sqlite')
    const db = new Sqlite(join(folder, 'log.sqlite'))
    for (const last of [7, 6, 5, 4]) {
      db.prepare('DELETE FROM event WHERE position = ?').run(last)
      expect((await audit(folder)).findings).toEqual([])
      const found = await audit(folder, head)
      expect(found).toMatchObject({ ok: false, events: last })
      expect(found.findings[0]!.reason).toBe(`it holds ${last} events, 8 were expected: its end is cut off`)
    }
    db.close()
  })
})

describe('a log that has been tampered with', () => {
  const opened = async (): Promise<{ log: AuditedLog; db: Sqlite.Database; head: LogHead }> => {
    const { folder, head } = await stored('sqlite')
    const { log } = await right(openLog(folder))
    return { log, db: new Sqlite(join(folder, 'log.sqlite')), head }
  }
  const tampers: { readonly [what: string]: readonly [sql: string, position: number] } = {
    'an event removed': ['DELETE FROM event WHERE position = 3', 3],
    'the first event removed': ['DELETE FROM event WHERE position = 0', 0],
    'an event removed and the rest moved up': [
      "DELETE FROM event WHERE position = 2; UPDATE event SET position = position - 1, revision = revision - (stream = 'cell-a') WHERE position > 2",
      2,
    ],
    'two events swapped': [
      'UPDATE event SET position = 99 WHERE position = 2; UPDATE event SET position = 2 WHERE position = 3; UPDATE event SET position = 3 WHERE position = 99',
      2,
    ],
    'an event repeated': [
      `INSERT INTO event SELECT 8, stream, 3, version, id || '!', meta, message, previous_hash, hash FROM event WHERE position = 7`,
      8,
    ],
    'an event exchanged for another': [
      'UPDATE event SET message = (SELECT message FROM event WHERE position = 2) WHERE position = 1',
      1,
    ],
    'an id changed': [`UPDATE event SET id = 'other' WHERE position = 6`, 6],
  }
  it.each(Object.keys(tampers))('should be found: %s', async (what) => {
    const { log, db } = await opened()
    const [sql, position] = tampers[what]!
    db.exec(sql)
    expect(positionsOf(await verify(log))).toContain(position)
    db.close()
    await log.close()
  })

  it('should not be built upon', async () => {
    const { log, db } = await opened()
    db.exec(`UPDATE event SET message = '{"at":7,"data":{"n":9},"type":"Forged"}' WHERE position = 7`)
    expect(await left(log.append('cell-b', 2, [newEvent('next')]))).toMatchObject({ kind: 'damaged' })
    expect(await right(log.append('cell-a', 4, [newEvent('next')]))).toMatchObject({ position: 8 })
    db.exec(`DELETE FROM event WHERE position = 1`)
    expect(await left(log.readAll(0, 100))).toMatchObject({ kind: 'damaged', position: 1 })
    expect(await left(log.readMessages('cell-a', 0, 100))).toMatchObject({ kind: 'damaged' })
    db.close()
    await log.close()
  })

  it('should be found when it was written anew from one event on, but only with the head', async () => {
    const original = memoryEventLog()
    await fillSmall(original)
    const head = await right(headOf(original))
    const folder = folderFor()
    const rewritten = await right(sqliteEventLog(Sqlite, join(folder, 'log.sqlite')))
    for (const { stream, revision, ...event } of await right(original.readAll(0, 100))) {
      const forged = {
        ...event,
        message: { ...event.message, data: event.id === 'b-0' ? { n: 1 } : event.message.data },
      }
      await right(rewritten.append(stream, revision - 1, [forged]))
    }
    expect((await verify(rewritten)).findings).toEqual([])
    const found = await verify(rewritten, head)
    expect(found.findings.map(({ reason }) => reason)).toEqual([
      `its first 8 events are not those of ${head.size}:${head.hash}`,
    ])
    // A head that was noted earlier, of a log that has grown since, still counts.
    await right(original.append('cell-b', 2, newEvents('c', 5)))
    expect((await verify(original, head)).findings).toEqual([])
    await right(rewritten.append('cell-b', 2, newEvents('c', 5)))
    expect(await verify(rewritten, head)).toMatchObject({ ok: false, events: 13 })
    await rewritten.close()
  })
})

it('should export what the second verifier accepts, and that verifier should find a change', async () => {
  const { execFileSync } = await import('node:child_process')
  const { folder, head } = await stored('file')
  const script = new URL('../support/verify-export.mjs', import.meta.url).pathname
  const path = join(folder, 'log.ndjson')
  expect(execFileSync(process.execPath, [script, path], { encoding: 'utf8' }).trim()).toBe(`${head.size}:${head.hash}`)
  const copy = join(folder, 'copy.ndjson')
  copyFileSync(path, copy)
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const swapped = [...lines]
  swapped[2] = lines[3]!
  swapped[3] = lines[2]!
  const bad = [
    lines.with(4, lines[4]!.replace('"at":7', '"at":8')),
    swapped,
    lines.toSpliced(1, 1),
    lines.toSpliced(5, 0, lines[4]!),
  ]
  for (const [i, first] of [5, 3, 2, 6].entries()) {
    writeFileSync(copy, `${bad[i]!.join('\n')}\n`)
    expect(() => execFileSync(process.execPath, [script, copy], { stdio: 'pipe' })).toThrow(`line ${first}: `)
  }
})
