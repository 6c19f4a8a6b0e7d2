import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { Command, CommandVerb } from '../../../domain/planner/command.ts'
import { EmbeddedAdapter } from '../../../services/schedulers/embedded/adapter.ts'
import { Journal } from '../../../services/schedulers/embedded/journal.ts'
import type { Report } from '../../../services/schedulers/embedded/pretended-jobs.ts'
import { courseOf, defaultScript } from '../../../services/schedulers/embedded/script.ts'
import { right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const open: EmbeddedAdapter[] = []
afterEach(async () => {
  for (const adapter of open.splice(0)) await adapter.close()
})

const steady = { ...defaultScript, failsPerMille: 0, startFailsPerMille: 0, speedUp: 1_000 }
const command = (workload: string, verb: CommandVerb, more: Partial<Command> = {}): Command => ({
  command: `${workload}/1/${verb}`,
  verb,
  cell: 'cell-default',
  workload,
  attempt: 1,
  because: 'admitted',
  issuedAt: 0 as EpochMs,
  deadlineAt: 120_000 as EpochMs,
  graceMs: 30_000 as DurationMs,
  lease: [{ devices: [0, 1, 2, 3], memoryMib: 0, milli: 1_000, node: 'n' }],
  team: 't',
  class: 'c',
  estimateMs: 60_000 as DurationMs,
  ...more,
})

const setUp = (place = folder(), script = steady) => {
  const told: Report[] = []
  const log = { isDown: false }
  const start = async (): Promise<EmbeddedAdapter> => {
    const adapter = await EmbeddedAdapter.open({
      openJournal: (follow, picture) => Journal.open(place, follow, picture),
      script,
      now: () => Date.now() as EpochMs,
      report: (facts) => {
        if (log.isDown) return Promise.resolve(E.left({ type: 'LogUnavailable', kind: 'full', reason: '', mend: '' }))
        told.push(...facts)
        return Promise.resolve(E.right(undefined))
      },
    })
    open.push(adapter)
    return adapter
  }
  const stop = async () => {
    for (const adapter of open.splice(0)) await adapter.close()
  }
  const says = () => told.map(({ id, data }) => `${id.replace(/@0/, '')} ${data.outcome}`)
  return { place, told, log, start, stop, says, journal: join(place, 'journal.ndjson') }
}

it('should start a job, run it and end it, and tell each once', async () => {
  const { start, says, told } = setUp()
  const adapter = await start()
  expect(await right(adapter.send(command('a', 'start')))).toBe('sent')
  expect(await right(adapter.send(command('a', 'start')))).toBe('duplicate')
  await expect.poll(says).toEqual(['a/1/start/concluded done', 'a/1/start/ended succeeded'])
  expect(told[0]!.at).toBeLessThan(told[1]!.at)
  // That it was told is written down first.
  await expect.poll(() => adapter.running).toBe(0)
})

it.each<CommandVerb>(['evict', 'cancel'])('should have done with %s what does not run', async (verb) => {
  const { start, says } = setUp()
  await right((await start()).send(command('a', verb)))
  await expect.poll(says).toEqual([`a/1/${verb}/concluded done`])
})

it('should refuse what it cannot do, with a reason', async () => {
  const { start, told } = setUp()
  const adapter = await start()
  await right(adapter.send(command('a', 'checkpoint')))
  await right(adapter.send(command('b', 'start', { lease: [] })))
  await right(adapter.send(command('c', 'defrost' as CommandVerb)))
  await expect.poll(() => told.length).toBe(3)
  for (const { data } of told) expect(data).toMatchObject({ outcome: 'refused', reason: expect.any(String) as string })
})

it('should stop a job for good, at once where its node has failed, and say nothing of it afterwards', async () => {
  const { start, told, says } = setUp(folder(), { ...steady, speedUp: 10 })
  const adapter = await start()
  await right(adapter.send(command('a', 'start')))
  const before = Date.now()
  await right(adapter.send(command('a', 'evict', { because: 'node-failed' })))
  await expect.poll(says).toEqual(['a/1/evict/concluded done'])
  expect(told[0]!.at - before).toBeLessThan(50)
  expect(adapter.running).toBe(0)
})

it('should take the longer the fewer devices it is left, and refuse to shrink to more', async () => {
  const { start, journal } = setUp(folder(), { ...steady, speedUp: 1 })
  const adapter = await start()
  await right(adapter.send(command('a', 'start')))
  const two = { devices: [0, 1], memoryMib: 0, milli: 1_000, node: 'n' }
  await right(adapter.send(command('a', 'shrink', { lease: [two] })))
  const ends = readFileSync(journal, 'utf8')
    .match(/"endsAt":\d+/g)!
    .map((text) => Number(text.slice(9)))
  const runsFrom = Number(/"runsFrom":(\d+)/.exec(readFileSync(journal, 'utf8'))![1])
  expect(ends[1]! - runsFrom).toBe(2 * (ends[0]! - runsFrom))
})

it('should go on from its checkpoint when it resumes', async () => {
  const { start, told, journal } = setUp(folder(), { ...steady, speedUp: 20 })
  const adapter = await start()
  await right(adapter.send(command('a', 'start')))
  await new Promise((resolve) => setTimeout(resolve, 300))
  await right(adapter.send(command('a', 'checkpoint')))
  await right(adapter.send(command('a', 'evict')))
  await expect.poll(() => told.length).toBeGreaterThan(2)
  await right(adapter.send(command('a', 'resume', { attempt: 2, command: 'a/2/resume' })))
  expect(Number(/"checkpoint":{[^}]*"doneMs":(\d+)/.exec(readFileSync(journal, 'utf8'))![1])).toBeGreaterThan(100)
  expect(
    readFileSync(journal, 'utf8')
      .match(/"doneMs":\d+/g)!
      .at(-1),
  ).not.toBe('"doneMs":0')
})

it('should tell after a restart what came due meanwhile, at the instant when it did', async () => {
  const { start, stop, told, says } = setUp(folder(), { ...steady, speedUp: 100 })
  const adapter = await start()
  await right(adapter.send(command('a', 'start')))
  await stop()
  expect(told).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 800))
  const before = Date.now()
  await start()
  await expect.poll(says).toEqual(['a/1/start/concluded done', 'a/1/start/ended succeeded'])
  for (const { at } of told) expect(at).toBeLessThan(before)
})

it('should tell again later what the log did not take', async () => {
  const { start, says, log } = setUp()
  log.isDown = true
  const adapter = await start()
  await right(adapter.send(command('a', 'start')))
  await new Promise((resolve) => setTimeout(resolve, 300))
  log.isDown = false
  await expect.poll(says, { timeout: 5_000 }).toEqual(['a/1/start/concluded done', 'a/1/start/ended succeeded'])
})

it('should act once on a command that is repeated, wherever its journal was cut off', async () => {
  const whole = setUp(folder(), { ...steady, speedUp: 1 })
  const first = await whole.start()
  const commands = [
    command('a', 'start'),
    command('b', 'start'),
    command('a', 'evict'),
    command('a', 'resume', { attempt: 2, command: 'a/2/resume' }),
  ]
  for (const each of commands) await right(first.send(each))
  await whole.stop()
  const text = readFileSync(whole.journal)
  for (let cut = 0; cut <= text.length; cut += 97) {
    const { start, stop, journal } = setUp()
    mkdirSync(dirname(journal), { recursive: true })
    writeFileSync(journal, text.subarray(0, cut))
    const adapter = await start()
    for (const each of commands) await right(adapter.send(each))
    for (const each of commands) expect(await right(adapter.send(each))).toBe('duplicate')
    await stop()
    const deeds = readFileSync(journal, 'utf8')
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{"deed"'))
    const keys = deeds.map((line) => (JSON.parse(line) as { deed: { key: string } }).deed.key)
    expect(keys).toEqual(['a/1/start@0', 'b/1/start@0', 'a/1/evict@0', 'a/2/resume@0'])
  }
})

it('should keep its journal small however many commands it takes, and forget none that is open', async () => {
  const { start, stop, journal, told } = setUp(folder(), { ...steady, speedUp: 1_000_000 })
  const adapter = await start()
  await right(adapter.send(command('long', 'start', { estimateMs: (1_000 * 86_400_000) as DurationMs })))
  for (let from = 0; from < 22_000; from += 500)
    await Promise.all(Array.from({ length: 500 }, (_, i) => right(adapter.send(command(`w-${from + i}`, 'start')))))
  await expect.poll(() => told.length, { timeout: 20_000 }).toBe(44_001)
  await stop()
  expect(readFileSync(journal, 'utf8').split('\n').length).toBeLessThan(25_000)
  expect(existsSync(`${journal}.next`)).toBe(false)
  const again = await start()
  expect(await right(again.send(command('long', 'start')))).toBe('duplicate')
  expect(await right(again.send(command('w-21999', 'start')))).toBe('duplicate')
  expect(again.running).toBe(1)
}, 60_000)

it('should say which line of its journal it cannot read', async () => {
  const { start, journal } = setUp()
  writeFileSync(journal, '{"told":"x"}\nnonsense\n')
  await expect(start()).rejects.toThrow(/journal\.ndjson:2 is damaged; move the file away/)
})

it('should go the same for the same seed, workload and attempt, within its bounds', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer(),
      fc.nat(1_000_000),
      fc.integer({ min: 1, max: 1_000 }),
      (name, seed, estimate, speedUp) => {
        const script = { ...defaultScript, seed, speedUp }
        const course = courseOf(script, name, 1, estimate)
        expect(courseOf(script, name, 1, estimate)).toEqual(course)
        expect(course.runMs).toBeGreaterThanOrEqual(1)
        expect(course.runMs).toBeLessThanOrEqual(Math.max(1, Math.ceil((1.1 * estimate) / speedUp)))
      },
    ),
  )
  const courses = Array.from({ length: 2_000 }, (_, i) => courseOf(defaultScript, `w-${i}`, 1, 60_000))
  expect(courses.filter(({ fails }) => fails).length).toBeGreaterThan(10)
  expect(courses.filter(({ startFails }) => startFails).length).toBeGreaterThan(3)
  expect(new Set(courses.map(({ runMs }) => runMs)).size).toBeGreaterThan(500)
})

it('should not start what was asked to stop before its start came, but another life of the same name', async () => {
  const { start, stop, says } = setUp()
  const adapter = await start()
  await right(adapter.send(command('a', 'cancel', { issuedAt: 5 as EpochMs })))
  await right(adapter.send(command('a', 'start', { issuedAt: 4 as EpochMs })))
  await stop()
  await right((await start()).send(command('a', 'start', { issuedAt: 6 as EpochMs })))
  await expect
    .poll(says)
    .toEqual([
      'a/1/cancel@5/concluded done',
      'a/1/start@4/concluded refused',
      'a/1/start@6/concluded done',
      'a/1/start@6/ended succeeded',
    ])
})
