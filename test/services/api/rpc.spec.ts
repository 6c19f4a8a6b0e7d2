import { expect, it } from 'vitest'
import type { RequestVerb } from '../../../domain/ports/requests.ts'
import { MemoryRequests } from '../../../infra/memory/requests.ts'
import { answerRequests } from '../../../services/api/rpc.ts'
import { apiServer } from '../../support/api-server.ts'
import { right } from '../../support/events.ts'

const serve = apiServer()
const intent = (name: string) => ({
  apiVersion: 'capacity.leasehold.dev/v1',
  kind: 'WorkloadIntent',
  metadata: { name, team: 'ranking' },
  spec: { preferred: { accelerator: 'h100', count: 4 } },
})

const opened = async () => {
  const server = await serve()
  const requests = new MemoryRequests()
  answerRequests(server.system.desk, requests)
  const ask = async (verb: RequestVerb, question: unknown): Promise<unknown> =>
    JSON.parse(
      await right(requests.ask(verb, typeof question === 'string' ? question : JSON.stringify(question), 20_000)),
    )
  return { ask, server }
}

it('should answer submit, plan and why as HTTP does', async () => {
  const { ask, server } = await opened()
  const answer = await ask('submit', { intents: [intent('a'), intent('b')], actor: 'ana', reason: 'for tests' })
  expect(answer).toMatchObject([
    { workload: 'a', outcome: 'recorded' },
    { workload: 'b', outcome: 'recorded' },
  ])
  expect(await ask('submit', { intents: intent('a') })).toEqual((await server.post('/v1/workloads', intent('a'))).json)
  expect(await ask('why', { workload: 'a' })).toEqual((await server.get('/v1/workloads/a/why')).json)
  expect(await ask('why', { workload: 'a', at: 0 })).toEqual((await server.get('/v1/workloads/a/why?at=0')).json)
  expect(await ask('plan', { intents: intent('c') })).toEqual((await server.post('/v1/plan', intent('c'))).json)
})

it('should answer what is wrong as HTTP does, with its code and mend', async () => {
  const { ask, server } = await opened()
  expect(await ask('why', { workload: 'nowhere' })).toEqual((await server.get('/v1/workloads/nowhere/why')).json)
  const bad = { ...intent('a'), spec: { preferred: { accelerator: 'h100', count: 0 } } }
  expect(await ask('submit', { intents: bad })).toEqual((await server.post('/v1/workloads', bad)).json)
  const of = (code: string, reason: string) => ({ error: { code, reason: expect.stringContaining(reason) as string } })
  expect(await ask('why', 'nonsense')).toMatchObject(of('invalid', 'is not JSON'))
  expect(await ask('why', '[]')).toMatchObject(of('invalid', 'no JSON object'))
  expect(await ask('why', {})).toMatchObject(of('invalid', 'workload: is missing'))
  expect(await ask('plan', { at: 0 })).toMatchObject(of('invalid', 'intents: is missing'))
  expect(await ask('plan', { intents: intent('a'), workload: 'a' })).toMatchObject(
    of('invalid', 'workload: is not known'),
  )
  expect(await ask('why', { workload: 'a', att: 0 })).toMatchObject(of('invalid', 'att: is not known'))
})
