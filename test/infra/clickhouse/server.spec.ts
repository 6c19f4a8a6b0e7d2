import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TableRows } from '../../../domain/ports/views.ts'
import { parseClickHouseUrl } from '../../../infra/clickhouse/place.ts'
import { remembering } from '../../../infra/clickhouse/schema/migrations.ts'
import { openViews, type ClickHouseViews, type OpenViewsOptions } from '../../../infra/clickhouse/views.ts'
import { systemClock } from '../../../infra/host/clock.ts'
import { Projector } from '../../../services/project/project.ts'
import { rebuild } from '../../../services/project/rebuild.ts'
import { contraryLog } from '../../projections/rows/told-logs.ts'
import { openHttpDoor, type HttpDoor, type HttpDoorOptions, type Mishap } from '../../support/clickhouse/http-door.ts'
import { left, right } from '../../support/events.ts'
import { numbersFrom } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { schema } from './job-views.ts'

/* The real client over HTTP and TLS to a small door before chDB: no ClickHouse server of today can be had here. */

const folderFor = tempFolder()
let folder: string
let door: HttpDoor
const open: ClickHouseViews[] = []
afterEach(async () => {
  for (const views of open.splice(0)) await views.close()
  await door.close()
})

const startDoor = async (options: HttpDoorOptions): Promise<void> => {
  folder = folderFor()
  door = await openHttpDoor(join(folder, 'engine'), options)
  writeFileSync(join(folder, 'ca.pem'), door.certificate ?? '')
}

const placeOf = (url: string) => right(() => Promise.resolve(parseClickHouseUrl(url)))
const believed = () => (door.certificate === null ? '' : `?tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`)
const views = async (options: OpenViewsOptions = { migrations: counted }): Promise<ClickHouseViews> => {
  const opened = await right(openViews(await placeOf(`${door.url}${believed()}`), options))
  open.push(opened)
  return opened
}

/** Tables that replace nothing, so that what is added twice is there twice, also behind a materialized view. */
const counted = [
  schema[0]!,
  {
    name: '0002-counted',
    statements: [
      'CREATE TABLE IF NOT EXISTS a (k String) ENGINE = MergeTree ORDER BY k',
      'CREATE TABLE IF NOT EXISTS b (k String) ENGINE = MergeTree ORDER BY k',
      'CREATE TABLE IF NOT EXISTS total (k String, n UInt64) ENGINE = SummingMergeTree ORDER BY k',
      ...['a', 'b', 'total'].map(remembering),
      "CREATE MATERIALIZED VIEW IF NOT EXISTS adding TO total AS SELECT 'all' AS k, 1 AS n FROM a",
    ],
  },
]
const rows = (table: string, from: number, count: number): TableRows => ({
  ...{ table, columns: ['k'] },
  rows: Array.from({ length: count }, (_, i) => [`${table}-${from + i}`]),
})
const limits = { timeMaxMs: 60_000, rowsMax: 10 }
const stored = 'SELECT (SELECT count() FROM a), (SELECT count() FROM b), (SELECT sum(n) FROM total)'
const uptimeS = async (of: ClickHouseViews) => Number((await right(of.query('SELECT uptime()', limits))).rows[0]![0])
const counts = async (of: ClickHouseViews) => (await right(of.query(stored, limits))).rows[0]

describe('a server whose connections fail', { timeout: 200_000 }, () => {
  beforeEach(() => startDoor({ tls: true }))

  const mishaps: ReadonlyArray<readonly [string, ReadonlyArray<Mishap>, number]> = [
    ['cut before it took the rows', ['cut-before'], 0],
    ['cut when it had them', ['cut-after'], 0],
    ['cut again and again', ['cut-before', 'cut-after', 'cut-after', 'cut-after', 'cut-before'], 1],
    ['behind a gateway that gives up', ['gateway', 'gateway'], 1],
    ['full', ['full', 'cut-after'], 1],
    ['slow', [1_500, 300], 0],
  ]
  it('should get every row once, in its tables and behind its materialized views', async () => {
    const server = await views()
    // One that began just now might have begun again: its rows would come twice rather than be lost.
    await expect.poll(() => uptimeS(server), { timeout: 20_000, interval: 500 }).toBeGreaterThanOrEqual(8)
    let upTo = -1
    for (const [what, befall, failuresMin] of mishaps) {
      upTo += 10
      const batch = [rows('a', upTo, 30), rows('b', upTo, 20)]
      door.inserts.push(...befall)
      let failures = 0
      for (let done = await server.write(upTo, batch)(); E.isLeft(done); done = await server.write(upTo, batch)()) {
        expect(['unreachable', 'full'], what).toContain(done.left.kind)
        if (++failures > 10) throw new Error(`${what}: ${done.left.reason}`)
      }
      expect(failures, what).toBeGreaterThanOrEqual(failuresMin)
      expect(door.inserts, what).toEqual([])
      expect(await right(server.projected()), what).toBe(upTo)
      const written = (upTo + 1) / 10
      expect(await counts(server), what).toEqual([30 * written, 20 * written, 30 * written])
    }
    expect(mishaps).toHaveLength((upTo + 1) / 10)
  })

  it('should get what it lost when it was killed, though it may have noted it', async () => {
    const server = await views()
    const batch = [rows('a', 0, 30), rows('b', 0, 20)]
    door.inserts.push('cut-before', 'cut-before', 'cut-before', 'cut-before')
    expect(E.isLeft(await server.write(9, batch)())).toBe(true)
    await door.killEngine()
    door.inserts.splice(0)
    await right(server.write(9, batch))
    expect(await counts(server)).toEqual([30, 20, 30])
  })

  it('should be asked again where a connection that was kept is no longer there', async () => {
    const server = await views()
    for (let i = 0; i < 3; i++) {
      door.others.push('cut-before')
      expect(await right(server.projected())).toBe(-1)
      door.others.push('cut-before')
      expect(await counts(server)).toEqual([0, 0, 0])
    }
    door.others.push('cut-before', 'cut-before')
    expect(await left(server.projected())).toMatchObject({ kind: 'unreachable' })
    expect(await right(server.projected())).toBe(-1)
  })
})

it('should use its connections again', async () => {
  await startDoor({ tls: false })
  const server = await views()
  const before = door.connections()
  for (let i = 0; i < 20; i++) await right(server.projected())
  expect(door.connections() - before).toBeLessThanOrEqual(3)
})

it('should outlive the connections that the server lets go', async () => {
  await startDoor({ tls: false, idleMaxMs: 2_000 })
  const server = await views()
  for (const idleMs of [1_900, 2_000, 2_050, 2_300]) {
    await new Promise((next) => setTimeout(next, idleMs))
    expect(await right(server.projected())).toBe(-1)
  }
})

it('should tell who is not believed, and who is not let in, without a password', async () => {
  await startDoor({ tls: true })
  const refusal = async (url: string) => {
    const told = await left(openViews(await placeOf(url)))
    expect(JSON.stringify(told)).not.toContain(door.password)
    expect(JSON.stringify(told)).not.toContain('hush')
    return told
  }
  expect(await refusal(door.url)).toMatchObject({
    kind: 'refused',
    mend: expect.stringContaining('tlsCAFile') as unknown,
  })
  const other = `${door.address.replace('https://', 'https://leasehold:hush@')}${believed()}`
  expect(await refusal(other)).toMatchObject({ kind: 'refused', mend: expect.stringContaining('password') as unknown })
  expect(await refusal(`${door.url}?tlsCAFile=/absent/ca.pem`)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('tlsCAFile /absent/ca.pem cannot be read: ENOENT') as unknown,
  })
  const secret = join(folder, 'secret')
  writeFileSync(secret, `${door.password}\n`)
  const byFile = `${door.address.replace('https://', 'https://leasehold@')}${believed()}&passwordFile=${encodeURIComponent(secret)}`
  open.push(await right(openViews(await placeOf(byFile), { migrations: counted })))
})

it('should have of a log what a rebuild makes of it, in every table, whatever befell the inserts', async () => {
  await startDoor({ tls: true })
  const server = await views({})
  const below = numbersFrom(7)
  const kinds: ReadonlyArray<Mishap> = ['cut-before', 'cut-after', 'gateway', 'full', 5]
  for (let i = 0; i < 24; i++) door.inserts.push(below(3) === 0 ? 0 : kinds[below(kinds.length)]!)
  const log = await contraryLog(7)
  const size = (await right(log.heads())).reduce((sum, head) => sum + head.size, 0)
  const projector = new Projector(log, server, systemClock, { lingerMs: 0, backOffMinMs: 1, backOffMaxMs: 10 })
  expect(await projector.settled(size - 1)).toBe(true)
  await projector.stop()
  door.inserts.splice(0)
  const tables = await right(rebuild(log, server))
  expect(tables.filter(({ rowsAfter }) => rowsAfter > 0).length).toBeGreaterThan(10)
  for (const { hashAfter, hashBefore, rowsAfter, rowsBefore, table } of tables)
    expect({ table, rows: rowsBefore, hash: hashBefore }).toEqual({ table, rows: rowsAfter, hash: hashAfter })
}, 300_000)
