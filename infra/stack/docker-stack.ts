import { either as E } from 'fp-ts'
import * as t from 'io-ts'
import { packageFile } from './package-file.ts'
import { findProgram, lastLines, run } from './program.ts'
import type { ServerState } from './native-stack.ts'
import { stackFault, type StackFault } from './stack-fault.ts'
import type { StackServer } from './stack-state.ts'

/** The servers of docker-compose.yml, and where it publishes them. Leasehold itself, which is there too, is none of them. */
const published: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kafka: { kafka: '127.0.0.1:9092' },
  eventstore: { esdb: 'esdb://127.0.0.1:2113?tls=false' },
  nats: { nats: 'nats://127.0.0.1:4222', http: 'http://127.0.0.1:8222' },
  clickhouse: { http: 'http://leasehold:leasehold@127.0.0.1:8123' },
}
export const dockerNames: ReadonlyArray<string> = Object.keys(published)

const askMaxMs = 10_000
const upMaxMs = 900_000
const downMaxMs = 120_000

/** A client with its compose plugin, and an engine that answers. */
export const findDocker = async (): Promise<string | null> => {
  const docker = findProgram('docker')
  if (docker === null) return null
  for (const words of [
    ['version', '--format', '{{.Server.Version}}'],
    ['compose', 'version'],
  ])
    if ((await run(docker, words, askMaxMs)).status !== 0) return null
  return docker
}

const compose = (docker: string, words: ReadonlyArray<string>, timeMaxMs: number) =>
  run(docker, ['compose', '--file', packageFile('docker-compose.yml'), ...words], timeMaxMs)

export const dockerUp = async (
  docker: string,
  names: ReadonlyArray<string>,
): Promise<E.Either<StackFault, ReadonlyArray<StackServer>>> => {
  const wanted = names.length === 0 ? dockerNames : names
  const unknown = wanted.find((name) => !dockerNames.includes(name))
  if (unknown !== undefined)
    return E.left(stackFault(unknown, 'there is no such server', `name some of ${dockerNames.join(', ')}`))
  const ran = await compose(docker, ['up', '--detach', '--wait', ...wanted], upMaxMs)
  if (ran.status !== 0)
    return E.left(stackFault('docker', lastLines(ran.text), 'see `docker compose ps` and `docker compose logs`'))
  return E.right(
    wanted.map((name) => ({ name, version: 'container', urls: published[name] ?? {}, process: null, folder: null })),
  )
}

const rowCodec = t.type({ Service: t.string, State: t.string, Health: t.union([t.string, t.undefined]) })

/** By the name of the service. What Docker does not list is down. */
export const dockerStates = async (docker: string): Promise<ReadonlyMap<string, ServerState>> => {
  const { status, text } = await compose(docker, ['ps', '--all', '--format', 'json'], askMaxMs)
  const states = new Map<string, ServerState>()
  if (status !== 0) return states
  // One row a line; older ones write an array of rows on one line.
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    for (const row of [JSON.parse(line) as unknown].flat()) {
      const decoded = rowCodec.decode(row)
      if (E.isLeft(decoded)) continue
      const { Health: health, Service: service, State: state } = decoded.right
      const healthy = health === undefined || health === '' || health === 'healthy'
      states.set(service, state !== 'running' ? 'down' : healthy ? 'up' : 'silent')
    }
  }
  return states
}

export const dockerDown = async (docker: string, purge: boolean): Promise<StackFault | null> => {
  const ran = await compose(docker, ['down', ...(purge ? ['--volumes'] : [])], downMaxMs)
  return ran.status === 0 ? null : stackFault('docker', lastLines(ran.text), 'see `docker compose ps`')
}
