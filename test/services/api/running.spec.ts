import { connect } from 'node:net'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { startServer } from '../../../services/api/server.ts'
import { startSystem } from '../../../services/main.ts'
import { apiServer, intent, nodes, tick, type ApiServer } from '../../support/api-server.ts'
import { lineOf, nodeFact } from '../../support/fact-script.ts'

const server = apiServer()
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('orders', () => {
  it('should be seen by whoever asks next, however many come at once', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    const names = Array.from({ length: 60 }, (_, i) => `w-${i}`)
    await Promise.all(
      names.map(async (name) => {
        expect((await api.post('/v1/workloads', intent(name))).status).toBe(202)
        expect((await api.get(`/v1/workloads/${name}`)).json).toMatchObject({ state: 'waiting' })
      }),
    )
    const queue = (await api.get('/v1/queue?limit=0')).json as { rows: ReadonlyArray<{ workload: string }> }
    expect(queue.rows.map(({ workload }) => workload).toSorted()).toEqual(names.toSorted())
  })

  it('should give one name to one workload, whoever comes first', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    const same = await Promise.all(Array.from({ length: 8 }, () => api.post('/v1/workloads', intent('same'))))
    expect(same.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 202])
    const other = await Promise.all(
      Array.from({ length: 8 }, (_, i) => api.post('/v1/workloads', intent('other', i + 1))),
    )
    expect(other.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409, 409, 409])
  })

  it('should refuse a name that has ended, also after a start anew and of what came as a fact', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    await api.post('/v1/workloads', intent('first'))
    await api.post('/v1/workloads/first/cancel', {})
    await api.stop()
    await api.system.stop()
    const again = await startSystem({
      ...{ folder: api.folder, cell: 'cell-default', version: 'x', host: '127.0.0.1', port: 0, hosts: [] },
      ...{ clock: 'events', adapter: null, views: null, policy: { ...defaultPolicy, name: 'test' } },
    })
    if (E.isLeft(again)) throw new Error(JSON.stringify(again.left))
    const { address, stop } = again.right
    const headers = { 'content-type': 'application/yaml' }
    const refused = await fetch(`${address}/v1/workloads`, { method: 'POST', headers, body: intent('first') })
    expect(refused.status).toBe(409)
    expect(await refused.json()).toMatchObject({ error: { mend: expect.stringContaining('first-2') as string } })
    expect(await (await fetch(`${address}/v1/workloads/first`)).json()).toMatchObject({ state: 'cancelled' })
    await stop()
  })

  it('should take all of several or none', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    await api.post('/v1/workloads', intent('gone'))
    await api.post('/v1/workloads/gone/cancel', {})
    expect((await api.post('/v1/workloads', `${intent('new')}---\n${intent('gone')}`)).status).toBe(409)
    expect((await api.get('/v1/workloads/new')).status).toBe(404)
    expect((await api.post('/v1/workloads', `${intent('x')}---\n${intent('x')}`)).status).toBe(400)
  })
})

describe('a stream of events', () => {
  const eventsOf = async (
    api: ApiServer,
    path: string,
    until: (text: string) => boolean,
    headers = {},
  ): Promise<string> => {
    const leave = new AbortController()
    const answer = await fetch(api.address + path, { headers, signal: leave.signal })
    let text = ''
    for await (const chunk of answer.body!) {
      text += Buffer.from(chunk).toString()
      if (until(text)) break
    }
    leave.abort()
    return text
  }
  const idsIn = (text: string) => Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id))

  it('should give every decision once, those that are there and those that come', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    for (const name of ['a', 'b', 'c']) await api.post('/v1/workloads', intent(name, 4))
    await api.sendFacts(tick('t1', 1_000))
    const heard = eventsOf(api, '/v1/events?from=0', (text) => idsIn(text).length >= 4)
    await pause(100)
    await api.post('/v1/workloads/c/cancel', {})
    const text = await heard
    expect(Array.from(text.matchAll(/^event: (\w+)$/gm), ([, type]) => type)).toEqual([
      'WorkloadAdmitted',
      'WorkloadAdmitted',
      'WorkloadHeld',
      'WorkloadCancelled',
    ])
    const ids = idsIn(text)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    const onwards = await eventsOf(api, '/v1/events', (more) => idsIn(more).length >= 1, {
      'last-event-id': String(ids[2]),
    })
    expect(idsIn(onwards)).toEqual([ids[3]])
  })

  it('should be one of so many at most', async () => {
    const api = await server({ eventStreamsMax: 2 })
    const open = [await fetch(`${api.address}/v1/events`), await fetch(`${api.address}/v1/events`)]
    const third = await api.get('/v1/events')
    expect([third.status, third.json]).toMatchObject([503, { error: { code: 'busy' } }])
    await open[0]!.body!.cancel()
    for (let tries = 0; tries < 100; tries++) {
      const next = await fetch(`${api.address}/v1/events`)
      await next.body!.cancel()
      if (next.status === 200) return
      await pause(50)
    }
    throw new Error('no place came free')
  })
})

describe('a server that stops', () => {
  it('should finish what is in hand, and keep all that it acknowledged', async () => {
    const api = await server()
    const socket = connect(api.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const ended = new Promise((resolve) => socket.on('close', resolve))
    const line = (i: number) => `${lineOf(`node-${i}`, nodeFact(`node-${i}`))}\n`
    const chunk = (piece: string) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`
    socket.write('POST /v1/facts HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n')
    socket.write(`transfer-encoding: chunked\r\n\r\n${chunk(line(0))}`)
    await pause(200)
    const stopped = api.stop()
    await pause(100)
    await expect(fetch(`${api.address}/healthz`)).rejects.toThrow()
    socket.write(`${chunk(line(1))}0\r\n\r\n`)
    await ended
    await stopped
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*"recorded":2/)
  })

  it('should wait neither for one that says nothing, nor for ever for one that never ends', async () => {
    const api = await server({ stopTimeMaxMs: 300 })
    const silent = connect(api.port, '127.0.0.1')
    const endless = connect(api.port, '127.0.0.1')
    endless.write(
      'POST /v1/facts HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ncontent-length: 9\r\n\r\n{',
    )
    const closed = [silent, endless].map(
      (socket) => new Promise((resolve) => socket.on('close', resolve).on('error', () => undefined)),
    )
    const events = await fetch(`${api.address}/v1/events`)
    await pause(100)
    await api.stop()
    await Promise.all(closed)
    await expect(events.text()).resolves.toContain('decisions follow')
  })
})

describe('readiness', () => {
  it('should say why not, and that views lag without being in the way', async () => {
    const reasons = ['the log is being folded']
    const api = await server({}, () => reasons)
    const unready = await api.get('/readyz')
    expect([unready.status, unready.json]).toMatchObject([503, { status: 'unready', reasons }])
    reasons.pop()
    expect((await api.get('/readyz')).status).toBe(200)
    const lagging = {
      ...api.system.desk,
      status: () => async () => {
        const status = await api.system.desk.status()()
        const views = { kind: 'chdb', engine: null, projected: 0, lagEvents: 7, lagMs: 1 } as const
        return E.map((known: object) => ({ ...known, views }))(status) as typeof status
      },
    }
    const other = await startServer(lagging, { host: '127.0.0.1', port: 0, hosts: [], version: 'x', unready: () => [] })
    const answer = await fetch(`${other.address}/readyz`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { notes: ['the views lag by 7 events'] }])
    await other.stop()
  })

  it('should end with the log that is followed', async () => {
    const api = await server()
    await api.system.desk.close()
    expect((await api.get('/readyz')).status).toBe(503)
    const answer = await api.get('/v1/fleet')
    expect([answer.status, answer.json]).toMatchObject([503, { error: { code: 'log-closed' } }])
  })
})

it('should give figures whose number does not grow with what is sent', async () => {
  const api = await server()
  const linesOf = async () =>
    (await api.get('/metrics')).text.split('\n').filter((line) => /^leasehold_(?!process|nodejs)/.test(line))
  await api.sendFacts(...nodes(2))
  for (const name of ['a', 'b', 'c']) await api.post('/v1/workloads', intent(name, 8))
  await api.sendFacts(tick('t1', 1_000))
  await api.post('/v1/nodes/node-1/health', { health: 'draining' })
  await api.get('/v1/workloads/a')
  await linesOf()
  const before = await linesOf()
  expect(before).toEqual(
    expect.arrayContaining([
      'leasehold_facts_total{outcome="recorded"} 3',
      'leasehold_decisions_total{type="WorkloadAdmitted"} 2',
      'leasehold_workloads{state="waiting"} 1',
      'leasehold_workloads{state="running"} 2',
      'leasehold_devices{health="draining"} 8',
      'leasehold_devices{health="ready"} 8',
    ]),
  )
  for (let i = 0; i < 10; i++) {
    await api.post('/v1/workloads', intent(`more-${i}`))
    await api.get(`/v1/workloads/more-${i}`)
  }
  await api.sendFacts(tick('t2', 2_000))
  const after = await linesOf()
  expect(after.map((line) => line.split(' ')[0])).toEqual(before.map((line) => line.split(' ')[0]))
  expect(after.join('\n')).not.toMatch(/more-|node-/)
})

it('should tell of the past as it was', async () => {
  const api = await server()
  await api.sendFacts(...nodes(1))
  for (const name of ['a', 'b']) await api.post('/v1/workloads', intent(name, 8))
  await api.sendFacts(tick('t1', 60_000))
  const end = {
    type: 'AttemptEnded',
    at: 120_000 as EpochMs,
    data: { attempt: 1, outcome: 'succeeded', workload: 'a' },
  } as const
  await api.sendFacts(['end', end], tick('t2', 120_000))
  expect((await api.get('/v1/workloads/a')).json).toMatchObject({ state: 'succeeded', since: 120_000 })
  expect((await api.get('/v1/workloads/a/why')).json).toMatchObject({ error: { code: 'not-found' } })
  expect((await api.get('/v1/workloads/a/why?at=90000')).json).toMatchObject({ state: 'running', startedAt: 60_000 })
  expect((await api.get('/v1/workloads/b/why?at=1970-01-01T00:01:30Z')).json).toMatchObject({ state: 'waiting' })
  expect((await api.get('/v1/queue?at=90000')).json).toMatchObject({ rows: [{ workload: 'b' }], running: 1 })
  expect((await api.get('/v1/queue')).json).toMatchObject({ rows: [], running: 1 })
})
