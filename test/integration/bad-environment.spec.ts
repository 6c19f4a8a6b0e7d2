import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { openLog } from '../../infra/host/open-log.ts'
import { right } from '../support/events.ts'
import { factScript, lineOf, nodeFact } from '../support/fact-script.ts'
import { toIngest } from '../support/ingest-client.ts'
import { goodLog } from '../support/good-log.ts'
import { smallTrace } from '../support/small-trace.ts'
import { eventsIn, expectIntact, expectOneError } from '../support/told.ts'

/* What a person sees who runs the verbs where the log or its disk is in the way. What is stored stays as it was. */

const { copyOf, folder, good, inFolder, leasehold, trace } = goodLog()

const verbsThatRead = [['queue'], ['why', 'a'], ['log', 'a'], ['decisions'], ['replay', 'verify'], ['log', 'export']]

describe('a log', () => {
  it('that a newer release wrote should be left alone by every verb', async () => {
    const data = copyOf('newer')
    const db = new Sqlite(join(data, 'log.sqlite'))
    db.pragma('user_version = 7')
    db.close()
    for (const words of [...verbsThatRead, ['audit', 'verify'], ['simulate', trace, '--nodes', '1']]) {
      const ran = await leasehold(...words, '--data', data)
      expect(ran.code).toBe(1)
      expectOneError(ran)
      expect(ran.stderr).toMatch(
        /log\.sqlite: a newer release wrote it \(schema 7, this one knows 1\); use that release/,
      )
    }
    const back = new Sqlite(join(data, 'log.sqlite'))
    back.pragma('user_version = 1')
    back.close()
    await expectIntact(data, await eventsIn(good))
  })

  it.each([
    [
      'cut',
      (path: string) => {
        truncateSync(path, 9_000)
      },
    ],
    [
      'overwritten',
      (path: string) => {
        writeFileSync(path, Buffer.alloc(40_000, 'noise'))
      },
    ],
  ])('that is %s should be told as damaged, and not touched', async (how, damage) => {
    const data = copyOf(how)
    rmSync(join(data, 'snapshots'), { recursive: true })
    const path = join(data, 'log.sqlite')
    damage(path)
    const before = readFileSync(path)
    for (const words of [...verbsThatRead, ['simulate', trace, '--nodes', '1']]) {
      const ran = await leasehold(...words, '--data', data)
      expect(ran.code).toBe(1)
      expectOneError(ran)
      expect(ran.stderr).toMatch(/it is damaged .*; keep the file, run `leasehold audit verify`/)
    }
    const audited = await leasehold('audit', 'verify', '--data', data)
    expect(audited).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^the log is not what it was: /) as unknown,
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('that another process writes should hold up who writes, and nobody who reads', async () => {
    const data = copyOf('locked')
    const longer = inFolder('longer.csv', `${smallTrace}e,900,10,1\n`)
    const other = new Sqlite(join(data, 'log.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    const ran = await leasehold('simulate', longer, '--nodes', '1', '--data', data)
    expect(ran.code).toBe(1)
    expectOneError(ran)
    expect(ran.stderr).toMatch(/another process is writing; try again when it is done, or stop it/)
    for (const words of [['queue'], ['log', 'a'], ['audit', 'verify']])
      expect((await leasehold(...words, '--data', data)).code).toBe(0)
    const told = await toIngest(data, [lineOf('new', nodeFact('new'))])
    expect(told).toMatchObject({ code: 1, answers: [] })
    expect(told.stderr).toMatch(/^error: .*another process is writing; try again/)
    other.exec('ROLLBACK')
    other.close()
    await expectIntact(data, await eventsIn(good))
    expect((await leasehold('simulate', longer, '--nodes', '1', '--data', data)).code).toBe(0)
    await expectIntact(data, (await eventsIn(good)) + 4)
  })

  it('that another process writes should hold up who writes: the file log', async () => {
    const data = join(folder, 'locked-file')
    const { log } = await right(openLog(data, { load: () => Promise.resolve(E.left('not wanted')) }))
    const ran = await leasehold('simulate', trace, '--nodes', '1', '--data', data)
    expect(ran.code).toBe(1)
    expectOneError(ran)
    expect(ran.stderr).toMatch(
      new RegExp(`process ${process.pid} is writing it; try again when it is done, or stop it`),
    )
    await log.close()
    expect((await leasehold('simulate', trace, '--nodes', '1', '--data', data)).code).toBe(0)
  })
})

/** Runs in a file system of its own of that size, which only root can make. */
const onSmallDisk = async (
  size: string,
  work: (folder: string, remount: (options: string) => void) => Promise<void>,
  skip: (why: string) => void,
) => {
  const disk = mkdtempSync(join(folder, 'disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk])
  if (status !== 0) {
    skip('no tmpfs can be mounted here')
    return
  }
  try {
    await work(disk, (options) => execFileSync('mount', ['-o', `remount,${options}`, disk]))
  } finally {
    spawnSync('umount', ['-l', disk])
  }
}

describe('a disk', () => {
  const many = () =>
    `id,submit,duration,gpus\n${Array.from({ length: 6_000 }, (_, i) => `job-${i},${i},${10 + ((i * 7) % 300)},${1 << (i % 4)}\n`).join('')}`

  it('that is full should end a simulation, which goes on when there is room', async ({ skip }) => {
    const long = inFolder('many.csv', many())
    await onSmallDisk(
      '2m',
      async (disk, remount) => {
        const data = join(disk, 'data')
        const ran = await leasehold('simulate', long, '--nodes', '2', '--data', data)
        expect(ran.code).toBe(1)
        expectOneError(ran)
        expect(ran.stderr).toBe(
          `error: the log cannot be used: ${data}/log.sqlite: the disk is full; make room; nothing was stored by halves\n`,
        )
        const stored = await eventsIn(data)
        expect(stored).toBeGreaterThan(1_000)
        await expectIntact(data, stored)
        remount('size=64m')
        const whole = await leasehold('simulate', long, '--nodes', '2', '--data', data, '-o', 'json')
        expect(whole).toMatchObject({ code: 0, stderr: '' })
        const { logDigest } = JSON.parse(whole.stdout) as { logDigest: string }
        const inMemory = await leasehold('simulate', long, '--nodes', '2', '-o', 'json')
        expect(JSON.parse(inMemory.stdout)).toMatchObject({ logDigest })
        expect((await leasehold('replay', 'verify', '--data', data)).code).toBe(0)
      },
      skip,
    )
  })

  it.for(['sqlite', 'file'])(
    'that is full should end ingest into a %s log, which goes on when there is room',
    async (kind, { skip }) => {
      const lines = (await factScript(5, 1_500)).map(([id, input]) => lineOf(id, input))
      await onSmallDisk(
        '1m',
        async (disk, remount) => {
          const data = join(disk, 'data')
          const full = await toIngest(data, lines, kind)
          expect(full.code).toBe(1)
          expect(full.stderr).toMatch(
            /^error: the log cannot be used: .*: the disk is full; make room; nothing was stored by halves\n$/,
          )
          const acknowledged = full.answers.filter(({ outcome }) => outcome === 'recorded')
          expect(acknowledged.length).toBeGreaterThan(100)
          await expectIntact(data, await eventsIn(data))
          remount('size=64m')
          const again = await toIngest(data, lines, kind)
          expect(again).toMatchObject({ code: 0 })
          const outcomes = new Map(again.answers.map(({ id, outcome }) => [id, outcome]))
          expect(acknowledged.filter(({ id }) => outcomes.get(id) !== 'duplicate')).toEqual([])
          await expectIntact(data, await eventsIn(data))
          expect((await leasehold('replay', 'verify', '--data', data)).code).toBe(0)
        },
        skip,
      )
    },
  )

  it('that cannot be written should be told, and read all the same', async ({ skip }) => {
    await onSmallDisk(
      '8m',
      async (disk, remount) => {
        const data = join(disk, 'data')
        cpSync(good, data, { recursive: true })
        remount('ro')
        const ran = await leasehold(
          'simulate',
          inFolder('longer.csv', `${smallTrace}e,900,10,1\n`),
          '--nodes',
          '1',
          '--data',
          data,
        )
        expect(ran.code).toBe(1)
        expectOneError(ran)
        const fresh = await leasehold('simulate', trace, '--nodes', '1', '--data', join(disk, 'new'))
        expect(fresh.code).toBe(1)
        expectOneError(fresh)
        for (const words of [['queue'], ['log', 'a']]) expect((await leasehold(...words, '--data', data)).code).toBe(0)
        await expectIntact(data, await eventsIn(good))
      },
      skip,
    )
  })
})
