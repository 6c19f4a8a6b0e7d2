import { expect, it } from 'vitest'
import { apiServer, intent, nodes, tick } from '../../support/api-server.ts'

const server = apiServer()

interface Parameters {
  readonly parameters?: ReadonlyArray<{ readonly in: string; readonly name: string }>
}

it('should answer for no instant that the log has not reached, whatever is asked', async () => {
  const api = await server()
  await api.sendFacts(...nodes(1))
  await api.post('/v1/workloads', intent('waits', 8))
  await api.sendFacts(tick('t1', 60_000))
  const { paths } = (await api.get('/openapi.json')).json as {
    readonly paths: { readonly [path: string]: { readonly [method: string]: Parameters } }
  }
  const asked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters.some(({ in: where, name }) => where === 'query' && name === 'at')
        ? [[method, path.replace('{id}', 'waits')] as const]
        : [],
    ),
  )
  expect(asked.length).toBeGreaterThanOrEqual(8)
  const ask = (method: string, path: string) => (method === 'get' ? api.get(path) : api.post(path, intent('planned')))
  for (const [method, path] of asked) {
    const { json, status } = await ask(method, `${path}?at=60001`)
    expect({ path, status, json }).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'invalid',
          reason: 'at: nothing is known of day 0 00:01:00 yet: the log reaches to day 0 00:01:00',
          mend: 'give at most 60000 (milliseconds), or leave it out',
        },
      },
    })
    expect({ path, status: (await ask(method, `${path}?at=60000`)).status }).not.toMatchObject({ status: 400 })
  }
})
