import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'waits-'))
const data = join(folder, 'demo')
const ask = async (...words: string[]): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const environment = { LEASEHOLD_VIEWS: 'embedded' }
  const { code, stderr, stdout } = await run([...words, '--data', data, '-o', 'json'], { environment })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as never
}

beforeAll(async () => {
  expect((await run(['demo', '--data', data])).code).toBe(0)
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

interface Life {
  readonly submittedMs: number
  readonly startedMs: number | null
  readonly endedMs: number | null
}

const livesOf = async (type: string): Promise<ReadonlyArray<Life>> => {
  const ms = (column: string) => `toUnixTimestamp64Milli(${column}) AS ${column}_ms`
  const rows = await ask(
    'sql',
    `SELECT ${['submitted_at', 'first_started_at', 'ended_at'].map(ms).join(', ')} FROM workloads WHERE class = '${type}'`,
    '--limit',
    '100000',
  )
  return rows.map((row) => ({
    submittedMs: Number(row['submitted_at_ms']),
    startedMs: row['first_started_at_ms'] === null ? null : Number(row['first_started_at_ms']),
    endedMs: row['ended_at_ms'] === null ? null : Number(row['ended_at_ms']),
  }))
}

it('should say what had been waited by then, by what had started and by what still waited', async () => {
  const training = await livesOf('training')
  for (const at of [69_776_000, 200_000_000]) {
    const there = training.filter(({ submittedMs }) => submittedMs <= at)
    const started = there.flatMap(({ startedMs, submittedMs }) =>
      startedMs !== null && startedMs <= at ? [startedMs - submittedMs] : [],
    )
    const waiting = there.flatMap(({ startedMs, submittedMs, endedMs }) =>
      (startedMs === null || startedMs > at) && (endedMs === null || endedMs > at) ? [at - submittedMs] : [],
    )
    const [row] = (await ask('waits', '--at', String(at))).filter((each) => each['class'] === 'training')
    const all = [...started, ...waiting]
    expect(row).toMatchObject({
      started_count: started.length,
      started_sum_ms: started.reduce((sum, wait) => sum + wait, 0),
      all_count: all.length,
      all_sum_ms: all.reduce((sum, wait) => sum + wait, 0),
      all_max_ms: Math.max(...all),
    })
    if (at === 69_776_000) expect(waiting.length).toBeGreaterThan(0)
  }
})

it('should say the same as without an instant when that is the end, and nothing before the beginning', async () => {
  const [{ end } = {}] = await ask('sql', 'SELECT toUnixTimestamp64Milli(max(at)) AS end FROM decisions')
  expect(await ask('waits', '--at', String(end))).toEqual(await ask('waits'))
  const hours = (await ask('ladder', '--from', '0s')).length
  expect(hours).toBeGreaterThan(24)
  expect(await ask('ladder', '--at', '69776s')).toHaveLength(1)
})

it('should say nothing of an instant that the log has not reached', async () => {
  const environment = { LEASEHOLD_VIEWS: 'embedded' }
  for (const verb of ['waits', 'ladder', 'fragmentation']) {
    const { code, stderr, stdout } = await run([verb, '--at', '9999999s', '--data', data], { environment })
    expect({ verb, code, stdout }).toEqual({ verb, code: 2, stdout: '' })
    expect(stderr).toContain('at: nothing is known of day 115 17:46:39 yet: the log reaches to day ')
  }
})
