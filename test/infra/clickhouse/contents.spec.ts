import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import fc from 'fast-check'
import { parseExact } from '../../../infra/clickhouse/exact-json.ts'
import { jobs } from '../../contract/views.contract.ts'
import { right } from '../../support/events.ts'
import { openJobs, type JobViews } from './job-views.ts'

let at: JobViews
beforeAll(async () => {
  at = await openJobs()
})
afterAll(() => at.remove())
beforeEach(async () => {
  await right(at.views.reset())
})

const rows = [
  ['a', 1, null, 0],
  ['b', 2, '', 1],
  ['c', 3, 'null', 2],
] as const

const contentAfter = async (
  ...batches: ReadonlyArray<ReadonlyArray<readonly [string, number, string | null, number]>>
) => {
  await right(at.views.reset())
  for (const [i, batch] of batches.entries()) await right(at.views.write(i, jobs(...batch)))
  const [content] = await right(at.views.contents())
  return content!
}

it('should be the same however the rows came', async () => {
  const content = await contentAfter(rows)
  expect(content).toMatchObject({ table: 'job', rows: 3 })
  expect(content.hash).toMatch(/^[0-9a-f]{32}$/)
  expect(await contentAfter([rows[2]], [rows[1]], [rows[0]])).toEqual(content)
  expect(await contentAfter(rows, [rows[1]], rows)).toEqual(content)
  expect(await contentAfter([['a', 9, 'old', -1]], rows)).toEqual(content)
  // The version orders what is written; it says nothing by itself.
  expect(await contentAfter(rows.map(([job, wait, note]) => [job, wait, note, 77]))).toEqual(content)
})

it('should differ when a row is missing, another, or has something for nothing', async () => {
  const { hash } = await contentAfter(rows)
  const others = [
    await contentAfter(rows.slice(1)),
    await contentAfter(rows, [['d', 4, null, 3]]),
    await contentAfter([['a', 1, '', 0], rows[1], rows[2]]),
    await contentAfter([rows[0], ['b', 2, null, 1], rows[2]]),
    await contentAfter([rows[0], rows[1], ['c', 3, null, 2]]),
    await contentAfter([rows[0], rows[1], ['c', 4, 'null', 2]]),
    await contentAfter([
      ['a', 1, null, 0],
      ['b', 2, 'null', 1],
      ['c', 3, '', 2],
    ]),
    await contentAfter(),
  ].map((content) => content.hash)
  expect(others).not.toContain(hash)
  expect(new Set(others).size).toBe(others.length)
})

it('should tell how much of the disk every table takes', async () => {
  await at.fill(1_000)
  const sizes = await right(at.views.sizes())
  expect(sizes.map(({ table }) => table)).toEqual(['job', 'projection', 'schema_migration'])
  for (const { rows, bytes, parts } of sizes) {
    expect(rows).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(0)
    expect(parts).toBeGreaterThan(0)
  }
})

it('should be asked by nobody without the password', async () => {
  const pid = at.views.pid()!
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /socket:\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const listening = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && inodes.has(fields[9]!))
  expect(listening).toHaveLength(1)
  const [address, port] = listening[0]![1]!.split(':')
  expect(address).toBe('0100007F')
  const url = `http://127.0.0.1:${parseInt(port!, 16)}/`
  const asked = { method: 'POST', body: 'SELECT 1' }
  for (const headers of [
    {},
    { Authorization: `Basic ${Buffer.from('default:').toString('base64')}` },
    { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'guess' },
    { Authorization: 'Bearer x' },
  ] as ReadonlyArray<Record<string, string>>) {
    const answer = await fetch(url, { ...asked, headers })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('AUTHENTICATION_FAILED')
  }
  // Nor is it in what everybody on this host sees of the process.
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean).slice(-1)).toEqual([at.folder])
})

it('should read JSON as it is, but for whole numbers that no number holds', () => {
  expect(parseExact('[9007199254740991,9007199254740992,-9007199254740993,0.1234567890123456789,1e300]')).toEqual([
    9007199254740991,
    '9007199254740992',
    '-9007199254740993',
    0.12345678901234568,
    1e300,
  ])
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const value: unknown = JSON.parse(text)
      const exact = JSON.stringify(value)
      // Of what JSON itself writes, only such numbers read otherwise.
      fc.pre(!/\d{16,}/.test(exact.replace(/"(?:[^"\\]|\\.)*"/g, '')))
      expect(parseExact(exact)).toEqual(JSON.parse(exact))
    }),
  )
})
