import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { decodeIntent } from '../../../domain/workload/intent.codec.ts'
import { startSystem, type System, type SystemOptions } from '../../../services/main.ts'
import { openFolder } from '../../../services/system/opened-folder.ts'
import { defaultScript } from '../../../services/schedulers/embedded/script.ts'
import { left, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { cellName } from '../../support/up-cell.ts'
import { intentOf } from '../../support/up-client.ts'

const folder = tempFolder()
const running: System[] = []
afterEach(async () => {
  for (const system of running.splice(0)) await system.stop()
})

const pretended = {
  nodes: 2,
  gpusPerNode: 8,
  script: { ...defaultScript, speedUp: 10_000, failsPerMille: 0, startFailsPerMille: 0 },
}
const optionsFor = (data: string, more: Partial<SystemOptions> = {}): SystemOptions => ({
  folder: data,
  cell: cellName,
  version: 'test',
  host: '127.0.0.1',
  port: 0,
  hosts: [],
  clock: 'wall',
  adapter: pretended,
  views: null,
  policy: null,
  ...more,
})
const start = async (data: string, more: Partial<SystemOptions> = {}): Promise<System> => {
  const system = await right(() => startSystem(optionsFor(data, more)))
  running.push(system)
  return system
}
const by = { actor: 'u-1', reason: null }
const intent = (name: string, count: number) => {
  const decoded = decodeIntent(intentOf(name, count, '10m'))
  if (E.isLeft(decoded)) throw new Error(JSON.stringify(decoded.left))
  return decoded.right
}

it('should begin with nodes to pretend on and the default policy, run what is submitted, and find it again', async () => {
  const data = folder()
  const first = await start(data)
  expect(await right(first.desk.status())).toMatchObject({
    mode: 'automate',
    degraded: [],
    running: { adapter: 'embedded' },
  })
  await right(first.desk.submit([intent('a', 8)], by))
  await expect.poll(async () => (await right(first.desk.state('a'))).state).toBe('succeeded')
  await first.stop()
  const second = await start(data)
  expect((await right(second.desk.fleet(null))).total).toMatchObject({ nodes: 2, devices: 16 })
  expect((await right(second.desk.state('a'))).state).toBe('succeeded')
  const policies = await right(second.desk.decisions({ type: null, workload: null, at: null, limit: 0 }))
  expect(policies.every(({ type }) => type !== 'PolicyActivated')).toBe(true)
})

it('should bring the policy into force that it is given, once', async () => {
  const data = folder()
  const policy = { ...defaultPolicy, name: 'ours', mode: 'advise' as const }
  const first = await start(data, { policy })
  const before = await right(first.desk.status())
  expect(before.mode).toBe('advise')
  await first.stop()
  const second = await start(data, { policy })
  expect(await right(second.desk.status())).toMatchObject({ mode: 'advise', events: before.events })
})

it('should begin with nothing at all where time comes with the facts', async () => {
  const system = await start(folder(), { clock: 'events', adapter: null })
  expect(await right(system.desk.status())).toMatchObject({ events: 0, mode: 'no-policy', now: 0 })
})

it('should let one process at a time have a folder, and leave nothing behind where it cannot start', async () => {
  const data = folder()
  const system = await start(data)
  expect(await left(() => startSystem(optionsFor(data)))).toMatchObject({ kind: 'locked', owner: { pid: process.pid } })
  await system.stop()
  const taken = createServer()
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, '127.0.0.1', () => {
      resolve((taken.address() as { port: number }).port)
    })
  })
  expect(await left(() => startSystem(optionsFor(data, { port })))).toMatchObject({
    type: 'NotStarted',
    reason: expect.stringContaining(String(port)) as string,
  })
  taken.close()
  await start(data, { port })
})

it('should run without its views where they cannot start, and say so', async () => {
  const data = folder()
  const views = join(data, 'views')
  writeFileSync(views, 'no folder')
  const system = await start(data, { views: { folder: views } })
  expect(system.degraded()).toEqual([expect.objectContaining({ what: 'views' })])
  expect(await left(system.desk.sql('SELECT 1', { rowsMax: 1, timeMaxMs: 1_000 }))).toMatchObject({
    type: 'ViewsUnavailable',
  })
  await right(system.desk.submit([intent('a', 8)], by))
  await expect.poll(async () => (await right(system.desk.state('a'))).state).toBe('succeeded')
  rmSync(views)
})

it('should take orders on a folder whose system does not run, for when it does', async () => {
  const data = folder()
  await (await start(data)).stop()
  const opened = await right(() =>
    openFolder({ folder: data, cell: cellName, version: 'test', logServer: null, writes: true, views: null }),
  )
  await right(opened.desk.submit([intent('later', 8)], by))
  expect((await right(opened.desk.state('later'))).state).toBe('waiting')
  await opened.close()
  const reading = await right(() =>
    openFolder({ folder: data, cell: cellName, version: 'test', logServer: null, writes: false, views: null }),
  )
  expect(await left(reading.desk.cancel('later', by))).toMatchObject({ type: 'LogUnavailable', kind: 'read-only' })
  await reading.close()
  const system = await start(data)
  await expect.poll(async () => (await right(system.desk.state('later'))).state, { timeout: 5_000 }).toBe('succeeded')
})

it('should tell how long things wait as of now, though nothing happens', async () => {
  const system = await start(folder(), { adapter: { ...pretended, script: defaultScript } })
  await right(system.desk.submit([intent('a', 8), intent('b', 8), intent('c', 8)], by))
  const waitedMs = async () => (await right(system.desk.queue(null, 0, null))).rows[0]?.waitedMs ?? -1
  const first = await waitedMs()
  await expect.poll(waitedMs).toBeGreaterThan(first + 300)
  const why = await right(system.desk.why('c', null))
  expect(why.waitedMs).toBeGreaterThan(first + 300)
})

it('should plan a few intents at a time and no more, and answer others meanwhile', async () => {
  const system = await start(folder())
  const many = Array.from({ length: 21 }, (_, i) => intent(`p-${i}`, 8))
  expect(await left(system.desk.plan(many, null))).toMatchObject({ type: 'Invalid' })
  const planning = right(system.desk.plan(many.slice(1), null))
  expect(await Promise.race([planning, right(system.desk.status())])).toMatchObject({ mode: 'automate' })
  expect(await planning).toHaveLength(20)
})
