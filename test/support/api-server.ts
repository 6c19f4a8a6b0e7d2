import { either as E } from 'fp-ts'
import { afterEach } from 'vitest'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { startServer, type RunningServer, type ServerLimits } from '../../services/api/server.ts'
import { startSystem, type System } from '../../services/main.ts'
import { lineOf, nodeFact } from './fact-script.ts'
import { tempFolder } from './temp-folder.ts'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined where it is no JSON. */
  readonly json: unknown
}

export interface ApiServer {
  readonly address: string
  readonly port: number
  readonly system: System
  readonly folder: string
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answered>
  /** JSON of an object; a text as YAML, unless another type is given. */
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answered>
  readonly sendFacts: (...facts: ReadonlyArray<readonly [id: string, fact: CellInput]>) => Promise<Answered>
  readonly stop: () => Promise<void>
}

/** A whole system on a folder of its own, whose time comes with the facts, and a server with limits of its own. */
export const apiServer = (): ((
  limits?: Partial<ServerLimits>,
  unready?: () => ReadonlyArray<string>,
) => Promise<ApiServer>) => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })
  // Registered later, and so removed earlier: see `afterEach` of vitest.
  const folderOf = tempFolder()
  return async (limits = {}, unready = () => []) => {
    const folder = folderOf()
    const started = await startSystem({
      folder,
      cell: 'cell-default',
      version: '0.0.0-test',
      host: '127.0.0.1',
      port: 0,
      hosts: [],
      clock: 'events',
      adapter: null,
      views: null,
      policy: { ...defaultPolicy, name: 'test' },
    })
    if (E.isLeft(started)) throw new Error(JSON.stringify(started.left))
    const system = started.right
    const options = { host: '127.0.0.1', port: 0, hosts: ['fleet.example.com'], version: '0.0.0-test', unready, limits }
    const server: RunningServer = await startServer(system.desk, options)
    const stop = async () => {
      await server.stop()
      await system.stop()
    }
    stops.push(stop)
    const ask = asking(server.address)
    return {
      address: server.address,
      port: Number(new URL(server.address).port),
      system,
      folder,
      get: (path, headers) => ask('GET', path, undefined, headers),
      post: (path, body, headers) =>
        ask('POST', path, typeof body === 'string' ? body : JSON.stringify(body), {
          'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json',
          ...headers,
        }),
      sendFacts: (...facts) =>
        ask('POST', '/v1/facts', facts.map(([id, fact]) => `${lineOf(id, fact)}\n`).join(''), {
          'content-type': 'application/x-ndjson',
        }),
      stop: () => server.stop(),
    }
  }
}

const asking =
  (address: string) =>
  async (
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> => {
    const answer = await fetch(address + path, { method, headers, ...(body === undefined ? {} : { body }) })
    const text = await answer.text()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: answer.status, headers: answer.headers, text, json }
  }

/** A fleet of so many nodes of eight devices each, registered at 0. */
export const nodes = (count: number): ReadonlyArray<readonly [string, CellInput]> =>
  Array.from({ length: count }, (_, i) => [`node-${i}`, nodeFact(`node-${i}`)] as const)

export const tick = (id: string, at: number): readonly [string, CellInput] => [
  id,
  { type: 'Ticked', at: at as CellInput['at'], data: {} },
]

export const intent = (name: string, count = 1, duration = '1h'): string =>
  `metadata: { name: ${name} }\nspec: { preferred: { count: ${count} }, expectedDuration: ${duration} }\n`
