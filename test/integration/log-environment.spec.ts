import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { AppendOutcome } from '../../infra/chain/append-queue.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { verify } from '../../infra/chain/verify.ts'
import { fileEventLog } from '../../infra/file/event-log.ts'
import { auditLog, chooseLog, openLog } from '../../infra/host/open-log.ts'
import { snapshotStore } from '../../infra/host/snapshot-store.ts'
import { sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { fillSmall, left, newEvent, newEvents, right } from '../support/events.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()
const noDriver = () => Promise.resolve(E.left('no binary for this platform'))

/** Runs in a file system of its own of that size; null where this user may not mount one. */
const onSmallDisk = async (
  options: string,
  run: (folder: string, remount: (options: string) => void) => Promise<void>,
): Promise<string | null> => {
  const folder = folderFor()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (cause) {
    return `no tmpfs can be mounted here: ${String(cause).split('\n', 1)[0]!}`
  }
  try {
    await run(folder, (options) => execFileSync('mount', ['-o', `remount,${options}`, folder], { stdio: 'pipe' }))
  } finally {
    execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
  }
  return null
}

const big = (prefix: string) => newEvents(prefix, 50).map((event) => ({ ...event, actor: 'x'.repeat(2_000) }))

/** Appends until the disk is full, makes room, goes on: nothing is stored by halves and nothing is lost. */
const fillUp = async (log: AuditedLog, makeRoom: () => void): Promise<void> => {
  let revision = -1
  let outcome: AppendOutcome
  do {
    outcome = await log.append('cell', revision, big(`fill-${revision}`))()
    if (E.isRight(outcome)) revision = outcome.right.revision
  } while (E.isRight(outcome) && revision < 100_000)
  expect(outcome).toMatchObject(E.left({ type: 'LogUnavailable', kind: 'full' }))
  expect(revision).toBeGreaterThan(48)
  expect((await right(log.heads()))[0]!.size).toBe(revision + 1)
  expect(await left(log.append('cell', revision, big('again')))).toMatchObject({ kind: 'full' })
  expect((await verify(log)).findings).toEqual([])
  makeRoom()
  expect(await right(log.append('cell', revision, big('again')))).toEqual({
    revision: revision + 50,
    position: revision + 50,
  })
  expect(await verify(log)).toMatchObject({ ok: true, events: revision + 51 })
}

describe('a full disk', () => {
  it('should be told by the SQLite log, which goes on when there is room', async ({ skip }) => {
    const reason = await onSmallDisk('size=1m', async (folder, remount) => {
      const log = await right(sqliteEventLog(Sqlite, join(folder, 'log.sqlite')))
      await fillUp(log, () => {
        remount('size=32m')
      })
      await log.close()
      expect(await right(auditLog(folder))).toMatchObject({ ok: true })
    })
    if (reason !== null) skip(reason)
  })

  it('should be told by the file log, which goes on when there is room', async ({ skip }) => {
    const reason = await onSmallDisk('size=1m', async (folder, remount) => {
      const log = await right(fileEventLog(join(folder, 'log.ndjson')))
      await fillUp(log, () => {
        remount('size=32m')
      })
      await log.close()
      expect(await right(auditLog(folder))).toMatchObject({ ok: true })
    })
    if (reason !== null) skip(reason)
  })

  it('should be told when SQLite may grow no more', async () => {
    const folder = folderFor()
    const path = join(folder, 'log.sqlite')
    const log = await right(sqliteEventLog(Sqlite, path, { pagesMax: 100 }))
    let revision = -1
    let outcome: AppendOutcome
    do {
      outcome = await log.append('cell', revision, big(`fill-${revision}`))()
      if (E.isRight(outcome)) revision = outcome.right.revision
    } while (E.isRight(outcome))
    expect(outcome).toMatchObject(E.left({ kind: 'full' }))
    await log.close()
    const roomy = await right(sqliteEventLog(Sqlite, path))
    expect(await verify(roomy)).toMatchObject({ ok: true, events: revision + 1 })
    expect(await right(roomy.append('cell', revision, big('more')))).toMatchObject({ revision: revision + 50 })
    await roomy.close()
  })
})

describe('another process', () => {
  it('should hold up an append to SQLite that it locks, and lose nothing', async () => {
    const path = join(folderFor(), 'log.sqlite')
    const log = await right(sqliteEventLog(Sqlite, path, { lockWaitMs: 20 }))
    await fillSmall(log)
    const other = new Sqlite(path)
    other.exec('BEGIN IMMEDIATE')
    expect(await left(log.append('cell-a', 4, [newEvent('x')]))).toMatchObject({ kind: 'locked' })
    expect(await right(log.readAll(0, 100))).toHaveLength(8)
    other.exec('ROLLBACK')
    expect(await right(log.append('cell-a', 4, [newEvent('x')]))).toEqual({ revision: 5, position: 8 })
    other.close()
    await log.close()
  })

  it('should be seen by the expected revision of SQLite, whichever of two appends', async () => {
    const path = join(folderFor(), 'log.sqlite')
    const one = await right(sqliteEventLog(Sqlite, path))
    const two = await right(sqliteEventLog(Sqlite, path))
    expect(await right(one.append('cell', -1, newEvents('a', 2)))).toMatchObject({ revision: 1 })
    expect(await left(two.append('cell', -1, newEvents('b', 1)))).toMatchObject({ actual: 1 })
    expect(await right(two.append('cell', 1, newEvents('b', 1)))).toEqual({ revision: 2, position: 2 })
    expect(await left(one.append('cell', 1, newEvents('c', 1)))).toMatchObject({ actual: 2 })
    expect(await left(one.append('cell', 2, newEvents('b', 1)))).toMatchObject({ type: 'DuplicateId' })
    expect(await right(one.append('cell', 2, newEvents('c', 1)))).toEqual({ revision: 3, position: 3 })
    const seen: number[] = []
    const watching = one.subscribe({ load: () => Promise.resolve(3), save: () => Promise.resolve() }, (batch) => {
      for (const { position } of batch) seen.push(position)
      return Promise.resolve()
    })
    await right(two.append('cell', 3, newEvents('d', 1)))
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await watching.stop()
    expect(seen).toEqual([4])
    expect((await verify(two)).findings).toEqual([])
    await one.close()
    await two.close()
  })

  it('should be kept from writing a file log that is being written, but not from reading it', async () => {
    const path = join(folderFor(), 'log.ndjson')
    const log = await right(fileEventLog(path))
    await fillSmall(log)
    expect(await left(fileEventLog(path))).toMatchObject({ kind: 'locked' })
    const reader = await right(fileEventLog(path, { readOnly: true }))
    expect(await right(reader.readAll(0, 100))).toHaveLength(8)
    await right(log.append('cell-a', 4, newEvents('x', 3)))
    expect(await right(reader.readAll(8, 100))).toHaveLength(3)
    expect(await left(reader.append('cell-a', 7, [newEvent('y')]))).toMatchObject({ kind: 'read-only' })
    await reader.close()
    // What somebody else has written all the same is not overwritten.
    writeFileSync(path, 'x', { flag: 'a' })
    expect(await left(log.append('cell-a', 7, [newEvent('y')]))).toMatchObject({ kind: 'locked' })
    await log.close()
    // A lock that is left behind by a process that is gone does not last.
    const other = join(folderFor(), 'log.ndjson')
    writeFileSync(`${other}.lock`, '999999999 1\n')
    await (await right(fileEventLog(other))).close()
  })
})

describe('a folder', () => {
  it('should be made for its owner alone, and say what is in it and why', async () => {
    const folder = join(folderFor(), 'data')
    expect(await left(openLog(folder, { readOnly: true }))).toMatchObject({ kind: 'absent' })
    const opened = await right(openLog(folder))
    expect(opened).toMatchObject({ kind: 'sqlite', because: 'better-sqlite3 loads' })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    await opened.log.close()
    expect(await right(chooseLog(folder))).toMatchObject({ kind: 'sqlite', because: 'the folder holds log.sqlite' })
    expect(await left(openLog(folder, { load: noDriver }))).toMatchObject({ kind: 'input-output' })
  })

  it('should get a file log where better-sqlite3 does not load, and keep it', async () => {
    const folder = join(folderFor(), 'data')
    const opened = await right(openLog(folder, { load: noDriver }))
    expect(opened).toMatchObject({ kind: 'file', because: 'better-sqlite3 does not load: no binary for this platform' })
    await fillSmall(opened.log)
    await opened.log.close()
    const again = await right(openLog(folder))
    expect(again).toMatchObject({ kind: 'file', because: 'the folder holds log.ndjson' })
    expect(await verify(again.log)).toMatchObject({ ok: true, events: 8 })
    await again.log.close()
  })

  it.each(['sqlite', 'file'] as const)('should be told when the %s log in it cannot be written', async (kind) => {
    const reason = await onSmallDisk('size=4m', async (folder, remount) => {
      const options = kind === 'file' ? { load: noDriver } : {}
      const opened = await right(openLog(folder, options))
      await fillSmall(opened.log)
      await opened.log.close()
      remount('ro')
      expect(await left(openLog(folder, options))).toMatchObject({ kind: 'read-only' })
      expect(await left(openLog(join(folder, 'new'), options))).toMatchObject({ kind: 'read-only' })
    })
    if (reason !== null) console.log(`left out: ${reason}`)
  })

  it('should be told when it is a file', async () => {
    const path = join(folderFor(), 'data')
    writeFileSync(path, '')
    expect(await left(openLog(path))).toMatchObject({ type: 'LogUnavailable', kind: 'input-output' })
  })
})

describe('a file that is not as this release writes it', () => {
  const stored = async (): Promise<string> => {
    const folder = folderFor()
    const { log } = await right(openLog(folder))
    await fillSmall(log)
    await log.close()
    return folder
  }

  it('should be left alone when a newer release wrote it', async () => {
    const folder = await stored()
    const db = new Sqlite(join(folder, 'log.sqlite'))
    db.pragma('user_version = 2')
    db.close()
    for (const readOnly of [true, false])
      expect(await left(openLog(folder, { readOnly }))).toMatchObject({ kind: 'newer-schema' })
    expect(await left(auditLog(folder))).toMatchObject({ kind: 'newer-schema' })
  })

  it.each([0, 16, 18, 100])('should be told when its header is overwritten from byte %i on', async (offset) => {
    const folder = await stored()
    const path = join(folder, 'log.sqlite')
    const bytes = readFileSync(path)
    bytes.fill(0xff, offset, offset + 8)
    writeFileSync(path, bytes)
    for (const readOnly of [true, false])
      expect(await left(openLog(folder, { readOnly }))).toMatchObject({ type: 'LogUnavailable', kind: 'damaged' })
    expect(await right(auditLog(folder))).toMatchObject({ ok: false })
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it('should be told when it is something else', async () => {
    for (const text of [
      'a text that is long enough to be read as the header of a database, which it is not'.repeat(20),
      '{}\n',
    ]) {
      const folder = folderFor()
      writeFileSync(join(folder, 'log.sqlite'), text)
      expect(await left(openLog(folder))).toMatchObject({ kind: 'damaged' })
      const other = folderFor()
      writeFileSync(join(other, 'log.ndjson'), text)
      expect(await left(openLog(other))).toMatchObject({ kind: 'damaged', position: 0 })
    }
    const folder = folderFor()
    const foreign = new Sqlite(join(folder, 'log.sqlite'))
    foreign.exec('CREATE TABLE event (a)')
    foreign.close()
    expect(await left(openLog(folder))).toMatchObject({ kind: 'damaged' })
  })

  it('should be opened when its process ended before the first event', async () => {
    for (const name of ['log.sqlite', 'log.ndjson']) {
      const folder = folderFor()
      writeFileSync(join(folder, name), '')
      const { log } = await right(openLog(folder))
      await fillSmall(log)
      expect((await verify(log)).ok).toBe(true)
      await log.close()
    }
  })
})

describe('a snapshot', () => {
  it('should be had back only as it was saved, for the log that it was taken of', async () => {
    const folder = folderFor()
    const { log } = await right(openLog(join(folder, 'data')))
    await fillSmall(log)
    const store = snapshotStore(join(folder, 'snapshots'))
    expect(await store.load('cell-a', log)).toEqual({ snapshot: null, reason: 'there is none' })
    const { revision, hash } = (await right(log.readStream('cell-a', 3, 1)))[0]!
    const snapshot = { stream: 'cell-a', revision, hash, body: '{"größe":1}\nmore' }
    await right(store.save(snapshot))
    expect(await store.load('cell-a', log)).toEqual({ snapshot })
    await right(store.save({ ...snapshot, hash: '0'.repeat(64) }))
    expect(await store.load('cell-a', log)).toMatchObject({
      reason: 'the log has another event, or none, at revision 3',
    })
    await right(store.save({ ...snapshot, revision: 9 }))
    expect(await store.load('cell-a', log)).toMatchObject({ snapshot: null })
    await right(store.save(snapshot))
    const [file] = execFileSync('ls', [join(folder, 'snapshots')], { encoding: 'utf8' }).split('\n')
    const path = join(folder, 'snapshots', file!)
    const bytes = readFileSync(path)
    for (let bit = 0; bit < bytes.length * 8; bit += 5) {
      const damaged = Buffer.from(bytes)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(path, damaged)
      expect(await store.load('cell-a', log)).toMatchObject({ snapshot: null })
    }
    await log.close()
    mkdirSync(join(folder, 'none'))
    chmodSync(join(folder, 'none'), 0o700)
    writeFileSync(join(folder, 'none', 'file'), '')
    expect(E.isLeft(await snapshotStore(join(folder, 'none', 'file')).save(snapshot)())).toBe(true)
  })
})
