#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { either as E } from 'fp-ts'
import { dockerDown, dockerStates, dockerUp, findDocker } from './docker-stack.ts'
import { nativeDown, nativeUp, stateOf } from './native-stack.ts'
import { wordsOf } from './cache.ts'
import { describeStackFault, type StackFault } from './stack-fault.ts'
import { saveServers, stackFolder, stackServers, type StackServer } from './stack-state.ts'
import { statusTable, type ServerStatus } from './status-table.ts'

const usage = `usage: npm run stack -- up [SERVER ...] | down [--purge] | status

  up        starts the servers that do not run and waits until each answers
  down      stops them; --purge deletes their data too
  status    says which of them answer, and where; exits with 1 unless all do

  -o, --output table|json   of status
  --folder FOLDER           their data and stack.json, which says where they are
                            (default: LEASEHOLD_STACK, or stack in the user's cache)
  --native                  as processes of this machine, also where there is Docker

Where Docker answers they are those of docker-compose.yml: kafka, eventstore, nats, clickhouse.
Elsewhere they are processes: kafka, nats, nats-current, alertmanager, prometheus.
`

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  const parsed = parse(args)
  if (typeof parsed === 'string') {
    process.stderr.write(`error: ${parsed}\n\n${usage}`)
    return 2
  }
  const { folder, help, json, names, native, purge, verb } = parsed
  if (help) {
    process.stdout.write(usage)
    return 0
  }
  const docker = native ? null : await findDocker()
  switch (verb) {
    case 'up':
      return report(docker === null ? await nativeUp(folder, names, say) : await upByDocker(docker, folder, names))
    case 'down':
      return down(docker, folder, purge)
    default:
      return status(docker, folder, json)
  }
}

interface Words {
  readonly verb: string
  readonly names: ReadonlyArray<string>
  readonly folder: string
  readonly json: boolean
  readonly native: boolean
  readonly purge: boolean
  readonly help: boolean
}

const options = {
  folder: { type: 'string' },
  output: { type: 'string', short: 'o', default: 'table' },
  native: { type: 'boolean', default: false },
  purge: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const parse = (args: ReadonlyArray<string>): Words | string => {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [verb = '', ...names] = positionals
    const { folder = stackFolder(), help, native, output, purge } = values
    if (!help && !['up', 'down', 'status'].includes(verb))
      return verb === '' ? 'say up, down or status' : `there is no ${verb}`
    if (verb !== 'up' && names.length > 0) return `${verb} takes no names`
    if (purge && verb !== 'down') return '--purge belongs to down'
    if (output !== 'table' && output !== 'json') return `there is no output ${output}`
    return { verb, names, folder, json: output === 'json', native, purge, help }
  } catch (cause) {
    return wordsOf(cause)
  }
}

const say = (server: string, line: string): void => {
  process.stderr.write(`${server}: ${line}\n`)
}

const report = (faults: ReadonlyArray<StackFault>): number => {
  for (const fault of faults) process.stderr.write(`error: ${describeStackFault(fault)}\n`)
  return faults.length === 0 ? 0 : 1
}

const upByDocker = async (
  docker: string,
  folder: string,
  names: ReadonlyArray<string>,
): Promise<ReadonlyArray<StackFault>> => {
  say('docker', 'starting the containers of docker-compose.yml')
  const up = await dockerUp(docker, names)
  if (E.isLeft(up)) return [up.left]
  const others = stackServers(folder).filter(({ name }) => !up.right.some((server) => server.name === name))
  saveServers(folder, [...others, ...up.right])
  for (const { name, urls } of up.right) say(name, `up at ${Object.values(urls).map(withoutPassword).join(', ')}`)
  return []
}

const down = async (docker: string | null, folder: string, purge: boolean): Promise<number> => {
  const servers = stackServers(folder)
  await nativeDown(folder, purge, say)
  const contained = servers.some(({ process: own }) => own === null)
  if (docker === null || !contained) {
    if (servers.length === 0) say('stack', 'nothing is up')
    return 0
  }
  const fault = await dockerDown(docker, purge)
  if (fault === null) saveServers(folder, [])
  return report(fault === null ? [] : [fault])
}

const status = async (docker: string | null, folder: string, json: boolean): Promise<number> => {
  const servers = stackServers(folder)
  const contained = docker === null ? new Map<string, never>() : await dockerStates(docker)
  const states: ReadonlyArray<ServerStatus> = await Promise.all(
    servers.map(async (server: StackServer) => ({
      server,
      state: server.process === null ? (contained.get(server.name) ?? 'down') : await stateOf(server),
    })),
  )
  if (json)
    process.stdout.write(
      `${JSON.stringify(
        states.map(({ server, state }) => ({ ...server, state })),
        null,
        2,
      )}\n`,
    )
  else if (states.length === 0) say('stack', 'nothing is up; `npm run stack -- up` starts it')
  else process.stdout.write(statusTable(states, withoutPassword))
  return states.length > 0 && states.every(({ state }) => state === 'up') ? 0 : 1
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^/@]*@/, '//')

process.exitCode = await main(process.argv.slice(2))
