import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { NatsLink, type LinkOptions } from '../../infra/nats/link.ts'
import { parseNatsUrl } from '../../infra/nats/place.ts'
import { freePorts } from '../../infra/stack/free-port.ts'
import { natsAtHand, type NatsRelease } from '../../infra/stack/nats-program.ts'
import { natsServerName } from '../../infra/stack/nats.ts'
import { describeStackFault } from '../../infra/stack/stack-fault.ts'
import { right } from './events.ts'

/** A kind of server that tests run on; `program` null: it is not here, and `name` says what to do. */
export interface NatsKind {
  readonly name: string
  readonly program: string | null
}

const kind = async (release: NatsRelease): Promise<NatsKind> => {
  const found = await natsAtHand(release)
  return E.isRight(found)
    ? { name: `nats-server ${found.right.version}`, program: found.right.path }
    : { name: `nats-server (${describeStackFault(found.left)})`, program: null }
}

/** The oldest that is supported, as far as the system packages it, and the current one. */
export const natsKinds: ReadonlyArray<NatsKind> = await Promise.all([kind('packaged'), kind('current')])

export interface NatsServer {
  readonly url: string
  readonly port: number
  readonly name: string
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>
  /** On the same port with the same data. */
  readonly start: () => Promise<void>
  readonly end: () => Promise<void>
}

let servers = 0

/** A server that can be killed and come back, under a name and a port that others may take meanwhile. */
export const startNatsServer = async (
  program: string,
  { configuration = '', port: wanted = 0, name = '' } = {},
): Promise<NatsServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-nats-'))
  const [port = 0] = wanted === 0 ? await freePorts(1) : [wanted]
  const called = name === '' ? `test-${process.pid}-${servers++}` : name
  const file = join(folder, 'nats.conf')
  const lines = [
    `server_name: ${called}`,
    'host: 127.0.0.1',
    `port: ${port}`,
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'data'))} }`,
    configuration,
  ]
  writeFileSync(file, lines.join('\n'))
  let child: ChildProcess | null = null
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    const running = child
    child = null
    if (running === null || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
  }
  const start = async (): Promise<void> => {
    child = spawn(program, ['--config', file], { stdio: 'ignore' })
    for (let tries = 0; (await natsServerName(port)) !== called; tries++) {
      if (tries > 400) throw new Error(`nats-server does not come up on port ${port}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    name: called,
    kill,
    start,
    end: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A link with subjects and streams of its own, where the url names no prefix. */
export const linkTo = async (url: string, options: LinkOptions = {}): Promise<NatsLink> => {
  const place = parseNatsUrl(url)
  if (E.isLeft(place)) throw new Error(place.left)
  return right(NatsLink.open(place.right, options))
}

let prefixes = 0
export const newPrefix = (): string => `t${process.pid}-${prefixes++}`
