import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { dockerDown, dockerNames, dockerStates, dockerUp, findDocker } from '../../../infra/stack/docker-stack.ts'
import { installKafka } from '../../../infra/stack/kafka-jars.ts'
import { nativeDown, nativeNames, nativeUp, stateOf } from '../../../infra/stack/native-stack.ts'
import { installNats, natsAtHand } from '../../../infra/stack/nats-program.ts'
import { saveServers, stackServers, type StackServer } from '../../../infra/stack/stack-state.ts'
import { statusTable } from '../../../infra/stack/status-table.ts'
import { left, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const lines = () => {
  const said: string[] = []
  return { said, say: (server: string, line: string) => said.push(`${server}: ${line}`) }
}
const program = (path: string, text: string): void => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('as processes', () => {
  it('should be brought up once, told, stopped, and forgotten with its data', async ({ skip }) => {
    const nats = await natsAtHand('packaged')
    if (E.isLeft(nats)) skip(nats.left.reason)
    const at = folder()
    const first = lines()
    expect(await nativeUp(at, ['nats'], first.say)).toEqual([])
    expect(first.said).toEqual([expect.stringMatching(/^nats: up at nats:.* after \d+ ms$/)])
    const [server] = stackServers(at)
    expect(await stateOf(server!)).toBe('up')

    const second = lines()
    expect(await nativeUp(at, ['nats'], second.say)).toEqual([])
    expect(second.said).toEqual([`nats: already up at ${Object.values(server!.urls).join(', ')}`])
    expect(stackServers(at)).toEqual([server])

    process.kill(server!.process!.pid, 'SIGSTOP')
    expect(await stateOf(server!)).toBe('silent')
    process.kill(server!.process!.pid, 'SIGKILL')
    await vi.waitFor(async () => {
      expect(await stateOf(server!)).toBe('down')
    })
    expect(await nativeUp(at, ['nats'], first.say)).toEqual([])
    const [again] = stackServers(at)
    expect(again!.process!.pid).not.toBe(server!.process!.pid)

    await nativeDown(at, false, second.say)
    expect(await stateOf(again!)).toBe('down')
    expect(stackServers(at)).toEqual([])
    expect(existsSync(join(at, 'nats'))).toBe(true)
    await nativeDown(at, true, second.say)
    expect(existsSync(join(at, 'nats'))).toBe(false)
  })

  it('should say of each that fails what is missing, and leave the others alone', async () => {
    const at = folder()
    const { said, say } = lines()
    // A nats-server that tells its version and no more.
    const programs = folder()
    program(join(programs, 'nats-server'), '[ "$1" = --version ] && echo nats-server: v2.9.10 || echo no disk >&2')
    vi.stubEnv('PATH', programs)
    vi.stubEnv('LEASEHOLD_CACHE', folder())
    const faults = await nativeUp(at, ['kafka', 'nats', 'nobody'], say)
    expect(faults.map(({ server }) => server)).toEqual(['kafka', 'nats', 'nobody'])
    expect(faults[0]).toMatchObject({
      reason: 'there is no java',
      mend: expect.stringContaining('default-jre-headless') as string,
    })
    expect(faults[1]?.reason).toBe('it ended while it was started: no disk')
    expect(faults[2]?.mend).toBe(`name some of ${nativeNames.join(', ')}`)
    expect(said).toContain('kafka: failed: there is no java')
  })

  it.each([
    [
      'java of before 17',
      { java: 'echo \'openjdk version "11.0.2"\' >&2' },
      /java is of version 11; install a Java runtime/,
    ],
    ['no mvn', { java: 'echo \'openjdk version "21.0.2"\' >&2' }, /there is no mvn to fetch its jars; install Maven/],
    [
      'an mvn without a network',
      { java: 'echo \'openjdk version "21"\' >&2', mvn: 'echo no route to host; exit 1' },
      /Maven fetched no jars: no route to host; see to its network/,
    ],
  ])('should say what to do about %s', async (_, programs, what) => {
    const at = folder()
    for (const [name, text] of Object.entries(programs)) program(join(at, name), text)
    vi.stubEnv('PATH', at)
    vi.stubEnv('LEASEHOLD_CACHE', folder())
    const { mend, reason } = await left(installKafka(() => undefined))
    expect(`${reason}; ${mend}`).toMatch(what)
  })

  it('should keep nothing of what was not built to its end, and build it once for all who ask', async () => {
    const at = folder()
    const cache = folder()
    vi.stubEnv('PATH', `${at}:/usr/bin:/bin`)
    vi.stubEnv('LEASEHOLD_CACHE', cache)
    program(join(at, 'go'), 'touch "$GOBIN/nats-server"; echo no network; exit 1')
    expect((await left(installNats('current', () => undefined))).reason).toBe('Go did not build it: no network')
    expect((await left(() => natsAtHand('current'))).mend).toBe('run `npm run stack -- up nats-current` once')

    program(join(at, 'go'), `echo built >> ${at}/built; sleep 0.2; touch "$GOBIN/nats-server"`)
    const programs = await Promise.all([1, 2, 3].map(() => right(installNats('current', () => undefined))))
    for (const found of programs) expect(found.path).toContain(cache)
    expect(readFileSync(join(at, 'built'), 'utf8')).toBe('built\n')
  })
})

describe('as containers', () => {
  const compose = parse(readFileSync('docker-compose.yml', 'utf8')) as {
    readonly services: Readonly<
      Record<string, { image?: string; ports: string[]; volumes: string[]; healthcheck?: unknown }>
    >
    readonly volumes: Readonly<Record<string, unknown>>
  }

  it('should have each server pinned, checked, on the loopback only, with its data in a volume', () => {
    expect(Object.keys(compose.services)).toEqual([...dockerNames, 'leasehold'])
    for (const [name, { healthcheck, image, ports, volumes }] of Object.entries(compose.services)) {
      expect(healthcheck, name).toBeDefined()
      if (name !== 'leasehold') expect(image, name).toMatch(/:\d+\.\d+/)
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/)
      for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0])
    }
  })

  it('should be asked of Docker, and told where it publishes them', async () => {
    const at = folder()
    const row = (Service: string, State: string, Health: string) => JSON.stringify({ Service, State, Health })
    const rows = [
      row('kafka', 'running', 'healthy'),
      row('nats', 'running', 'starting'),
      row('clickhouse', 'exited', ''),
    ]
    writeFileSync(join(at, 'rows'), rows.join('\n'))
    program(join(at, 'docker'), `echo "$*" >> ${at}/asked; case "$*" in *' ps '*) cat ${at}/rows;; esac`)
    vi.stubEnv('PATH', `${at}:/usr/bin:/bin`)
    const docker = await findDocker()
    expect(docker).toBe(join(at, 'docker'))

    const servers = await right(() => dockerUp(docker!, []))
    const published = Object.values(compose.services).flatMap(({ ports }) => ports.map((port) => port.split(':')[1]))
    for (const { urls } of servers)
      for (const url of Object.values(urls)) expect(published).toContain(/:(\d+)(\?|$)/.exec(url)?.[1])
    expect((await left(() => dockerUp(docker!, ['nobody']))).mend).toBe(`name some of ${dockerNames.join(', ')}`)
    expect(Object.fromEntries(await dockerStates(docker!))).toEqual({ kafka: 'up', nats: 'silent', clickhouse: 'down' })
    expect(await dockerDown(docker!, true)).toBeNull()
    const asked = readFileSync(join(at, 'asked'), 'utf8').replaceAll(/--file \S*docker-compose\.yml /g, '')
    expect(asked.split('\n')).toEqual([
      'version --format {{.Server.Version}}',
      'compose version',
      `compose up --detach --wait ${dockerNames.join(' ')}`,
      'compose ps --all --format json',
      'compose down --volumes',
      '',
    ])
  })

  it('should not be tried where no engine answers', async () => {
    const at = folder()
    program(join(at, 'docker'), 'echo Cannot connect to the Docker daemon >&2; exit 1')
    vi.stubEnv('PATH', at)
    expect(await findDocker()).toBeNull()
  })
})

describe('what is up', () => {
  const server: StackServer = {
    name: 'nats-current',
    version: '2.15.2',
    urls: { nats: 'nats://127.0.0.1:54321', http: 'http://127.0.0.1:54322' },
    process: { pid: 4_194_304, start: '1' },
    folder: '/tmp/somewhere',
  }

  it('should fit a page', () => {
    const table = statusTable([{ server, state: 'silent' }], (url) => url)
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(table).toMatch(/^nats-current {2}2\.15\.2 {3}silent {2}4194304/m)
  })

  it('should be nothing where the file that says so is damaged or of another kind', () => {
    const at = folder()
    saveServers(at, [server])
    expect(stackServers(at)).toEqual([server])
    for (const text of ['{"version":1,"servers":[', '{"version":2,"servers":[]}', '']) {
      mkdirSync(at, { recursive: true })
      writeFileSync(join(at, 'stack.json'), text)
      expect(stackServers(at)).toEqual([])
    }
  })
})
