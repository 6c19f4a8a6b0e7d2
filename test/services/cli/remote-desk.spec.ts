import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { decodeIntent } from '../../../domain/workload/intent.codec.ts'
import type { Answered, Desk } from '../../../services/api/desk.ts'
import { askHttp } from '../../../services/cli/http-request.ts'
import { remoteDesk } from '../../../services/cli/remote-desk.ts'
import { startSystem, type System } from '../../../services/main.ts'
import { defaultScript } from '../../../services/schedulers/embedded/script.ts'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'remote-desk-'))
const by = { actor: 'tester', reason: 'a test, with "quotes" & more?' }
let system: System
let remote: Desk
beforeAll(async () => {
  const started = await startSystem({
    folder,
    cell: 'cell-default',
    version: '0.0.0',
    host: '127.0.0.1',
    port: 0,
    hosts: [],
    clock: 'wall',
    adapter: { script: defaultScript, nodes: 2, gpusPerNode: 8 },
    views: null,
    policy: null,
  })
  if (E.isLeft(started)) throw new Error(started.left.reason)
  system = started.right
  remote = remoteDesk(system.address)
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true, force: true })
})

const intent = (name: string, count: number) => {
  const decoded = decodeIntent({ metadata: { name, team: 'ranking' }, spec: { preferred: { count } } })
  if (E.isLeft(decoded)) throw new Error('not an intent')
  return decoded.right
}
const told = async <A>(answered: Answered<A>): Promise<A> => {
  const answer = await answered()
  if (E.isLeft(answer)) throw new Error(JSON.stringify(answer.left))
  return answer.right
}

async function* bytesOf(...texts: ReadonlyArray<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await new Promise(setImmediate)
    yield Buffer.from(text)
  }
}

describe('the desk of a running system', () => {
  it('should take orders, each once', async () => {
    const [first, second] = await told(remote.submit([intent('a', 8), intent('b', 9)], by))
    expect(first).toMatchObject({ workload: 'a', outcome: 'recorded' })
    expect(second).toMatchObject({ workload: 'b', outcome: 'recorded' })
    expect(await told(remote.submit([intent('a', 8)], by))).toMatchObject([{ workload: 'a', outcome: 'duplicate' }])
    expect(await told(remote.setHealth('node-0001', 3, 'cordoned', by))).toMatchObject({ outcome: 'recorded' })
    expect(await told(remote.freeze(null, true, by))).toMatchObject({ outcome: 'recorded' })
    expect(await told(remote.freeze(null, false, by))).toMatchObject({ outcome: 'recorded' })
    const life = await told(remote.life('a', null))
    expect(life[0]).toMatchObject({ type: 'WorkloadSubmitted', data: { workload: 'a' } })
  })

  it('should take facts as they come, and keep what cannot be decoded', async () => {
    const answer = await told(remote.facts(bytesOf('not ', 'a fact\n')))
    expect(answer).toMatchObject({ recorded: 0, undecodable: 1 })
    const [letter] = await told(remote.deadLetters())
    expect(await told(remote.deadLetter(letter!.id))).toMatchObject({ body: 'not a fact', state: 'waiting' })
    expect((await remote.replayDeadLetter(letter!.id, by)())._tag).toBe('Left')
    expect(await told(remote.dropDeadLetter(letter!.id, by))).toMatchObject({ outcome: 'recorded' })
    expect(await told(remote.deadLetters())).toMatchObject([{ state: 'dropped' }])
  })

  const asked: ReadonlyArray<readonly [string, (desk: Desk) => Answered<unknown>]> = [
    ['fleet', (desk) => desk.fleet(null)],
    ['queue', (desk) => desk.queue(null, 10, null)],
    ['queue of a name', (desk) => desk.queue('default', 1, null)],
    ['no queue', (desk) => desk.queue('no/such?queue&é', 10, null)],
    ['why', (desk) => desk.why('b', null)],
    ['why in the past', (desk) => desk.why('b', 1 as EpochMs)],
    ['why of nothing', (desk) => desk.why('no such workload/äöü', null)],
    ['state', (desk) => desk.state('b')],
    ['state of nothing', (desk) => desk.state('nosuch')],
    ['plan', (desk) => desk.plan([intent('c', 1), intent('d', 1_000)], null)],
    ['decisions', (desk) => desk.decisions({ type: 'WorkloadAdmitted', workload: 'a', at: null, limit: 5 })],
    ['all decisions', (desk) => desk.decisions({ type: null, workload: null, at: null, limit: 0 })],
    ['life', (desk) => desk.life('b', null)],
    ['dead letters', (desk) => desk.deadLetters()],
    ['no dead letter', (desk) => desk.deadLetter('sha256:0')],
    ['sql without views', (desk) => desk.sql('SELECT 1', { timeMaxMs: 1_000, rowsMax: 10 })],
    ['rebuild without views', (desk) => desk.rebuild()],
    ['a node that is not there', (desk) => desk.setHealth('nosuch', null, 'ready', by)],
    ['a workload that is not there', (desk) => desk.cancel('nosuch', by)],
    ['a policy that is none', (desk) => desk.activatePolicy({ spec: { mode: 'maybe' } }, by)],
  ]
  it.each(asked)('should answer from afar as it does at home: %s', async (_, ask) => {
    // The clock goes on from one to the other.
    const ofTheClock = new Set(['at', 'now', 'waitedMs', 'startAt', 'expectedEndAt', 'projectedStartAt'])
    const timeless = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (key, each: unknown) => (ofTheClock.has(key) && each !== null ? 0 : each))
    expect(timeless(await ask(remote)())).toEqual(timeless(await ask(system.desk)()))
  })

  it('should be told of a queue that the policy does not have, and which was probably meant', async () => {
    const file = join(folder, 'misspelt.yaml')
    const spec = 'spec: { queue: defualt, preferred: { count: 1 } }'
    writeFileSync(file, `metadata: { name: misspelt, team: ranking }\n${spec}\n`)
    const { code, stderr, stdout } = await run(['submit', file, '--data', folder])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^misspelt: waits \(Misconfigured\), /) as string,
    })
    expect(stderr).toContain('misspelt is Misconfigured: the policy has no queue defualt (did you mean default?).\n')
    writeFileSync(file, `metadata: { name: right, team: ranking }\nspec: { preferred: { count: 1 } }\n`)
    expect((await run(['submit', file, '--data', folder])).stderr).not.toContain('Misconfigured')
  })

  it('should say how it is', async () => {
    expect(await told(remote.status())).toMatchObject({ running: { pid: process.pid, address: system.address } })
  })
})

describe('an owner that does not answer as it should', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  const serving = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener)
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const reasonOf = async (address: string): Promise<string> => {
    const answer = await remoteDesk(address).fleet(null)()
    expect(answer).toMatchObject({ left: { type: 'OwnerUnreachable' } })
    return E.isLeft(answer) && 'reason' in answer.left ? answer.left.reason : ''
  }

  it('should be told when nobody listens any more', async () => {
    const address = await serving(() => undefined)
    servers[0]!.close()
    expect(await reasonOf(address)).toBe(`no answer from \`leasehold up\` at ${address}: nobody listens there`)
  })

  it('should be told when it breaks off', async () => {
    const address = await serving((asked) => {
      asked.socket.destroy()
    })
    expect(await reasonOf(address)).toContain('broke off')
  })

  it('should be told when something else answers', async () => {
    const address = await serving((_, answer) => answer.writeHead(200).end('<html>'))
    expect(await reasonOf(address)).toContain('it answers 200, and not as Leasehold does')
  })

  it('should be told when it keeps silent', async () => {
    const address = await serving(() => undefined)
    const asked = await askHttp(address, { method: 'GET', path: '/', silenceMaxMs: 100 })
    expect(asked).toEqual(E.left('no answer within 0.1 s'))
  })

  it('should be heard when it refuses a body before it has come whole', async () => {
    const address = await serving((asked, answer) => {
      answer.writeHead(413, { connection: 'close' })
      answer.end('{"error":{"code":"too-large","reason":"too much","mend":"send less"}}')
      asked.resume()
    })
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        await new Promise(setImmediate)
        yield Buffer.alloc(65_536)
      }
    }
    expect(await remoteDesk(address).facts(endless())()).toMatchObject({
      left: { type: 'Invalid', faults: [{ reason: 'too much' }] },
    })
  })
})

it('should answer for every instant up to now, and for none behind it', async () => {
  const at = Date.now() as EpochMs
  expect(await told(remote.fleet(at))).toMatchObject({ at })
  const later = await remote.fleet((at + 3_600_000) as EpochMs)()
  expect(later).toMatchObject({ left: { type: 'Invalid', faults: [{ path: 'at' }] } })
})
