import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { wordsOf } from './cache.ts'
import { freePorts } from './free-port.ts'
import { natsName, type NatsProgram } from './nats-program.ts'
import { ServerProcess } from './server-process.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

export interface NatsOptions {
  /** For this server alone: its data, its configuration, its log. */
  readonly folder: string
  /** Added to its configuration: accounts, TLS, limits ... */
  readonly configuration?: string
  /** Added to its JetStream block: `sync_interval: always`, which 2.10 and later know ... */
  readonly jetStream?: string
}

const readyMaxMs = 20_000

/** Starts a server with JetStream on free ports of the loopback. Its urls: `nats`, and `http` with its figures. */
export const startNats =
  ({ release, path, version }: NatsProgram, options: NatsOptions): TE.TaskEither<StackFault, ServerProcess> =>
  async () => {
    const { folder, configuration = '', jetStream = '' } = options
    const [port = 0, httpPort = 0] = await freePorts(2)
    const name = `leasehold-${randomUUID().slice(0, 8)}`
    const file = join(folder, 'nats.conf')
    const lines = [
      `server_name: ${name}`,
      'host: 127.0.0.1',
      `port: ${port}`,
      `http: "127.0.0.1:${httpPort}"`,
      `jetstream { store_dir: ${JSON.stringify(join(folder, 'data'))}\n${jetStream}\n}`,
      configuration,
    ]
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
    } catch (cause) {
      return E.left(stackFault(natsName(release), wordsOf(cause), `see that ${folder} can be written`))
    }
    return ServerProcess.start({
      name: natsName(release),
      version,
      program: path,
      args: ['--config', file],
      folder,
      urls: { nats: `nats://127.0.0.1:${port}`, http: `http://127.0.0.1:${httpPort}` },
      answers: async () => (await natsServerName(port)) === name,
      readyMaxMs,
    })()
  }

const answerMaxMs = 2_000

/** The name of the server that answers there, as it says to whoever connects; null: none does. */
export const natsServerName = (port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const done = (name: string | null): void => {
      socket.destroy()
      resolve(name)
    }
    socket.setTimeout(answerMaxMs, () => {
      done(null)
    })
    socket.on('error', () => {
      done(null)
    })
    socket.on('close', () => {
      done(null)
    })
    socket.on('data', (chunk) => {
      text += chunk.toString()
      if (text.includes('\n')) done(/"server_name":"([^"]*)"/.exec(text)?.[1] ?? null)
    })
  })
