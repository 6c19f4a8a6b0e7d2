import { describe, expect, it } from 'vitest'
import { apiServer, tick, type ApiServer } from '../../support/api-server.ts'
import { nodeFact } from '../../support/fact-script.ts'

const server = apiServer()
const monday = Date.UTC(2026, 7, 3)
const day = 86_400_000

const capped = `
metadata: { name: capped, owner: Lea }
spec:
  queues: [{ name: default, ordering: greedy, budget: lab }]
  budgets: { tree: [{ name: lab, share: 1, owner: Lea }] }
  caps: { perTeam: 1 }
`
const demo = {
  name: 'demo',
  subject: { kind: 'team', name: 'vision' },
  allows: { kind: 'cap', devices: 4 },
  owner: 'Ann',
  reason: 'The demo of the vision team.',
  expires: '2026-08-04',
}
const ofVision = (name: string) =>
  `metadata: { name: ${name}, team: vision }\nspec: { preferred: { count: 2 }, expectedDuration: 1h }\n`

const begun = async (): Promise<ApiServer> => {
  const api = await server()
  await api.sendFacts(['node', { ...nodeFact('node-0'), at: monday as never }])
  expect((await api.post('/v1/policy', capped)).status).toBe(200)
  return api
}
const code = async (api: ApiServer, workload: string) =>
  ((await api.get(`/v1/workloads/${workload}`)).json as { code: string | null }).code

describe('an exception that is granted', () => {
  it('should lift its rule until it expires, and be said to have lapsed then', async () => {
    const api = await begun()
    await api.post('/v1/workloads', ofVision('first'))
    await api.sendFacts(tick('t1', monday + 1_000))
    expect(await code(api, 'first')).toBe('OverQueueLimit')
    expect((await api.post('/v1/policy/exceptions?actor=lea', demo)).json).toMatchObject({ outcome: 'recorded' })
    await api.sendFacts(tick('t2', monday + 2_000))
    expect((await api.get('/v1/workloads/first')).json).toMatchObject({ state: 'starting', code: null })
    expect((await api.get('/v1/policy')).json).toMatchObject({
      name: 'capped',
      owner: 'Lea',
      exceptions: [{ ...demo, allows: { kind: 'cap', devicesMilli: 4_000 }, holds: true }],
    })

    await api.sendFacts(tick('tuesday', monday + day))
    await api.post('/v1/workloads', ofVision('second'))
    await api.sendFacts(tick('t3', monday + day + 1_000))
    expect(await code(api, 'second')).toBe('OverQueueLimit')
    expect((await api.get('/v1/decisions?type=GrantLapsed')).json).toMatchObject([
      { data: { grant: 'exception', name: 'demo', owner: 'Ann', rule: 'spec.exceptions[0].expires' } },
    ])
    expect((await api.get('/v1/policy')).json).toMatchObject({ exceptions: [{ name: 'demo', holds: false }] })
  })

  it.each([
    ['without its end', { expires: undefined }, 'expires', 'is missing'],
    ['that is over', { expires: '2026-08-03' }, 'expires', '2026-08-03 has begun'],
    ['that nobody answers for', { owner: undefined }, 'owner', 'is missing'],
    ['of a budget that is not there', { subject: { kind: 'budget', name: 'lob' } }, 'subject.name', 'no budget lob'],
    ['of a cap without devices', { allows: { kind: 'cap' } }, 'allows.devices', 'is missing'],
  ])('should be refused %s, and change nothing', async (_, change, path, reason) => {
    const api = await begun()
    expect(await api.post('/v1/policy/exceptions', { ...demo, ...change })).toMatchObject({
      status: 400,
      json: { error: { faults: [{ path, reason: expect.stringContaining(reason) as string }] } },
    })
    expect((await api.get('/v1/policy')).json).toMatchObject({ exceptions: [] })
  })

  it('should have a name of its own', async () => {
    const api = await begun()
    await api.post('/v1/policy/exceptions', demo)
    const again = await api.post('/v1/policy/exceptions', { ...demo, owner: 'Ben' })
    expect(again).toMatchObject({
      status: 400,
      json: { error: { faults: [{ path: '$', reason: expect.stringContaining('demo') as string }] } },
    })
  })
})
