import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { apiServer, intent, nodes, tick, type Answered, type ApiServer } from '../../support/api-server.ts'

const server = apiServer()

interface OpenApi {
  readonly openapi: string
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: { readonly responses: { readonly [status: string]: unknown } }
    }
  }
}

/** Holds answers against what the document says of them, and keeps which it has seen. */
const documentOf = async (api: ApiServer) => {
  const { json } = await api.get('/openapi.json')
  const openApi = json as OpenApi
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, date: true } })
  ajv.addSchema({ $id: 'openapi', ...openApi })
  const seen = new Set<string>()
  const pathAt = (path: string): string => {
    const parts = path.split('?', 1)[0]!.split('/')
    const fits = (known: string): boolean => {
      const wanted = known.split('/')
      return wanted.length === parts.length && wanted.every((word, i) => word.startsWith('{') || word === parts[i])
    }
    return Object.keys(openApi.paths).find(fits) ?? 'nowhere'
  }
  const holds = (method: 'get' | 'post', path: string, answer: Answered): Answered => {
    const at = pathAt(path)
    const type = answer.headers.get('content-type')!.split(';')[0]!
    const pointer = ['paths', at, method, 'responses', String(answer.status), 'content', type, 'schema']
    const ref = `openapi#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const valid = ajv.compile({ $ref: ref })
    valid(answer.json ?? answer.text)
    expect({ method, path, errors: valid.errors, answer: answer.text }).toMatchObject({ errors: null })
    seen.add(`${method} ${at} ${answer.status}`)
    return answer
  }
  return { openApi, holds, seen }
}

const budgets = `
metadata: { name: with-budgets }
spec:
  queues: [{ name: default, ordering: greedy, budget: lab }]
  budgets: { tree: [{ name: lab, share: 1, owner: Lea }] }
`

const quotas = `
metadata: { name: quotas }
spec:
  sharing: kueue
  kueue: { fairSharing: [lessThanInitialShare] }
  cohorts: [{ name: all }]
  queues:
    - { name: default, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 2 } }] }
    - { name: other, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 2, lending: 1 } }] }
`

const keeping = `
metadata: { name: keeping }
spec:
  queues: [{ name: default, ordering: greedy, budget: lab }]
  budgets: { tree: [{ name: lab, share: 1, owner: Lea }] }
  reservations: [{ name: r, budget: lab, devices: 2, owner: Ann, justification: J., expires: 2999-01-01 }]
  protectedPools: [{ name: p, nodes: [node-0], budgets: [lab] }]
  headroom: { percent: 10 }
  exceptions:
    - { name: e, subject: { kind: budget, name: lab }, allows: { kind: cap, devices: 2 }, owner: Ann, reason: R., expires: 1970-01-01 }
`

/** Where there are views; and of a line that an older release could not decode. */
const elsewhere = ['post /v1/sql 200', 'post /v1/rebuild 200', 'post /v1/dlq/{id}/replay 200']

describe('the document of the interface', () => {
  it('should describe every real answer, and have every route answered', async () => {
    const api = await server()
    const { holds, openApi, seen } = await documentOf(api)
    const get = async (path: string, headers?: Record<string, string>) =>
      holds('get', path, await api.get(path, headers))
    const post = async (path: string, body: unknown, headers?: Record<string, string>) =>
      holds('post', path, await api.post(path, body, headers))

    holds('post', '/v1/facts', await api.sendFacts(...nodes(2)))
    const ndjson = { 'content-type': 'application/x-ndjson' }
    await post('/v1/facts', '{"no": "fact"}\n{"specversion": "1.0"}\n', ndjson)
    for (const name of ['runs', 'runs-too', 'waits', 'goes']) await post('/v1/workloads', intent(name, 8))
    expect((await post('/v1/workloads', intent('too-large', 9))).json).toMatchObject([
      { workload: 'too-large', outcome: 'recorded', state: 'refused', code: 'ExceedsFleet' },
    ])
    expect((await post('/v1/workloads', '[]', { 'content-type': 'application/json' })).status).toBe(400)
    expect((await post('/v1/workloads', intent('runs', 8))).status).toBe(200)
    holds('post', '/v1/facts', await api.sendFacts(tick('t1', 1_000)))
    expect((await post('/v1/workloads', intent('waits', 8))).json).toMatchObject([
      { outcome: 'duplicate', position: null, state: 'waiting', code: 'WaitingForCapacity' },
    ])
    expect((await post('/v1/workloads', intent('runs', 8))).json).toMatchObject([{ state: 'starting', code: null }])
    await post('/v1/workloads/goes/cancel', { actor: 'ann', reason: null })
    await post('/v1/workloads/runs/cancel', {})
    expect((await post('/v1/workloads/runs/cancel', '', { 'content-type': 'application/json' })).status).toBe(200)
    for (const name of ['runs', 'runs-too', 'waits', 'goes', 'too-large', 'nobody']) {
      await get(`/v1/workloads/${name}`)
      await get(`/v1/workloads/${name}/why`)
      await get(`/v1/workloads/${name}/log`)
    }
    const mends = expect.stringContaining('GET /v1/workloads/too-large ') as string
    expect((await get('/v1/workloads/too-large/why')).json).toMatchObject({ error: { mend: mends } })
    await get('/v1/workloads/waits/why', { accept: 'text/plain' })
    await get('/v1/workloads/waits/why?at=0')
    for (const path of ['', '/why', '/log'])
      expect((await get(`/v1/workloads/wiats${path}`)).json).toMatchObject({
        error: { code: 'not-found', mend: 'did you mean waits?' },
      })
    expect((await post('/v1/workloads/run-too/cancel', {})).json).toMatchObject({
      error: { code: 'not-found', mend: 'did you mean runs-too?' },
    })
    await post('/v1/plan', `${intent('p1', 1)}---\n${intent('p2', 8)}---\n${intent('p3', 9)}---\n${intent('waits', 1)}`)
    await post('/v1/nodes/node-1/health', { health: 'cordoned', device: 3 })
    await post('/v1/nodes/node-1/health', { health: 'draining', reason: 'a fan' })
    await post('/v1/nodes/node-9/health', { health: 'failed' })
    for (const path of [
      '/v1/queue',
      '/v1/queue?queue=default&limit=1&at=1970-01-01T00:00:01Z',
      '/v1/fleet',
      '/v1/fleet?at=0',
    ])
      await get(path)
    await get('/v1/queue?queue=nowhere')
    await get('/v1/decisions?type=held&limit=3&workload=waits')
    for (const type of ['WorkloadHeld', 'workloadheld', 'Held', 'HELD'])
      expect((await get(`/v1/decisions?type=${type}&limit=1`)).json).toMatchObject([{ type: 'WorkloadHeld' }])
    await get('/v1/decisions?limit=0')
    await get('/v1/commands?limit=5')
    await post('/v1/freeze', { frozen: true, pool: null })
    expect((await get('/v1/status')).json).toMatchObject({ mode: 'frozen' })
    await post('/v1/freeze', { frozen: false })
    await post('/v1/policy', 'metadata: { name: other }\n')
    await post('/v1/policy', 'metadata: { nam: other }\n')
    await post('/v1/workloads/waits/hold', { actor: 'ann', reason: 'mended' })
    expect((await post('/v1/workloads/waits/hold', {})).status).toBe(200)
    expect((await get('/v1/workloads/waits/position')).status).toBe(409)
    await post('/v1/workloads/waits/release', {})
    expect((await post('/v1/workloads/waits/release', '', { 'content-type': 'application/json' })).status).toBe(200)
    await post('/v1/workloads/nobody/hold', {})
    expect((await post('/v1/workloads/too-large/release', {})).json).toMatchObject({ error: { code: 'refused' } })
    for (const path of ['/v1/share', '/v1/workloads/runs-too/prio'])
      expect((await get(path)).json).toMatchObject({ error: { code: 'refused' } })
    expect((await get('/v1/workloads/waits/prio')).json).toMatchObject({ levels: [], leaf: { by: 'age' } })
    await post('/v1/policy', quotas)
    expect((await get('/v1/workloads/waits/prio')).json).toMatchObject({ levels: [{ by: 'quota-share' }] })
    expect((await get('/v1/share')).json).toMatchObject({
      sharing: 'kueue',
      quotas: [{ node: 'all' }, { node: 'default', quotas: [{ nominal: 2000 }] }, { node: 'other' }],
    })
    expect((await get('/v1/share?node=othr')).json).toMatchObject({ error: { mend: 'did you mean other?' } })
    await post('/v1/policy', budgets)
    holds('post', '/v1/facts', await api.sendFacts(tick('t2', 2_000)))
    expect((await get('/v1/share')).json).toMatchObject({ nodes: [{ node: '' }, { node: 'lab', owner: 'Lea' }, {}] })
    expect((await get('/v1/share?node=lab&at=0')).status).toBe(409)
    expect((await get('/v1/share?node=lob')).json).toMatchObject({ error: { mend: 'did you mean lab?' } })
    expect((await get('/v1/workloads/waits/prio')).json).toMatchObject({ levels: [{ parent: '' }, { parent: 'lab' }] })
    expect((await get('/v1/workloads/waits/position?limit=5')).json).toMatchObject({ position: 1, ahead: [] })
    for (const path of ['prio', 'position', 'why-preempted']) {
      await get(`/v1/workloads/wiats/${path}`)
      await get(`/v1/workloads/runs-too/${path}`)
    }
    await get('/v1/workloads/waits/why')
    await post('/v1/drills', { team: 'vision', family: null, outcome: 'passed', actor: 'ann' })
    await post('/v1/drills', { team: 'vision', outcome: 'perhaps' })
    expect((await get('/v1/drills')).json).toMatchObject([{ team: 'vision', outcome: 'passed', counts: true }])
    await get('/v1/drills?at=0')
    const grant = { name: 'demo', subject: { kind: 'team', name: 'vision' }, allows: { kind: 'not-preempted' } }
    const answered = { ...grant, owner: 'Ann', reason: 'The demo.', expires: '2999-01-01' }
    await post('/v1/policy/exceptions?actor=ann', answered)
    await post('/v1/policy/exceptions', answered)
    await post('/v1/policy', 'metadata: { name: third, owner: Lea }\n')
    expect((await post('/v1/policy/exceptions/demmo/revoke', {})).json).toMatchObject({
      error: { code: 'not-found', mend: 'did you mean demo?' },
    })
    await post('/v1/policy/exceptions/demo/revoke', { actor: 'ann', reason: 'it is over' })
    await post('/v1/policy', keeping)
    expect((await get('/v1/policy')).json).toMatchObject({ name: 'keeping', exceptions: [{ holds: false }] })
    await get('/v1/policy?at=0')
    const letters = (await get('/v1/dlq')).json as ReadonlyArray<{ readonly id: string }>
    expect(letters).toHaveLength(2)
    for (const { id } of letters) await get(`/v1/dlq/${id}`)
    await get('/v1/dlq/nothing')
    await post(`/v1/dlq/${letters[0]!.id}/replay`, {})
    await post(`/v1/dlq/${letters[0]!.id}/drop`, {})
    await post(`/v1/dlq/${letters[0]!.id}/drop`, {})
    for (const path of ['/v1/status', '/healthz', '/readyz', '/metrics', '/openapi.json']) await get(path)
    await post('/v1/sql', { query: 'SELECT 1' })
    await post('/v1/rebuild', {})

    const events = await fetch(`${api.address}/v1/events?from=0`)
    expect(events.headers.get('content-type')).toContain('text/event-stream')
    seen.add('get /v1/events 200')
    await events.body?.cancel()

    const successes = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.keys(responses)
          .filter((status) => status.startsWith('2'))
          .map((status) => `${method} ${path} ${status}`),
      ),
    )
    expect(successes.filter((success) => !seen.has(success)).sort()).toEqual(elsewhere.toSorted())
    expect(openApi.openapi).toBe('3.1.0')
  })

  it('should name every route that there is, each with its errors, and no other', async () => {
    const api = await server()
    const { openApi } = await documentOf(api)
    const named = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    expect(named.sort()).toEqual(
      [
        'GET /healthz',
        'GET /metrics',
        'GET /openapi.json',
        'GET /readyz',
        'GET /v1/commands',
        'GET /v1/decisions',
        'GET /v1/dlq',
        'GET /v1/drills',
        'POST /v1/drills',
        'GET /v1/share',
        'GET /v1/workloads/:id/position',
        'GET /v1/workloads/:id/prio',
        'GET /v1/workloads/:id/why-preempted',
        'POST /v1/workloads/:id/hold',
        'POST /v1/workloads/:id/release',
        'GET /v1/dlq/:id',
        'GET /v1/events',
        'GET /v1/fleet',
        'GET /v1/policy',
        'POST /v1/policy/exceptions',
        'POST /v1/policy/exceptions/:name/revoke',
        'GET /v1/queue',
        'GET /v1/status',
        'GET /v1/workloads/:id',
        'GET /v1/workloads/:id/log',
        'GET /v1/workloads/:id/why',
        'POST /v1/dlq/:id/drop',
        'POST /v1/dlq/:id/replay',
        'POST /v1/facts',
        'POST /v1/freeze',
        'POST /v1/nodes/:node/health',
        'POST /v1/plan',
        'POST /v1/policy',
        'POST /v1/rebuild',
        'POST /v1/sql',
        'POST /v1/workloads',
        'POST /v1/workloads/:id/cancel',
      ].sort(),
    )
    for (const methods of Object.values(openApi.paths))
      for (const [method, { responses }] of Object.entries(methods))
        expect(Object.keys(responses)).toEqual(
          expect.arrayContaining(
            method === 'post' ? ['400', '403', '408', '413', '415', '500', '503'] : ['400', '403', '500', '503'],
          ),
        )
  })
})
