import { spawn, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeFact } from '../../../domain/planner/cloud-event.ts'
import { openScene, stream, type Scene } from '../../support/eventstore/scene.ts'
import { newEvents, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { nodeOf } from '../../support/up-cell.ts'
import { getStatus, postFacts } from '../../support/up-client.ts'
import { run } from './terminal.ts'

const folder = tempFolder()
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const jobs = [
  resolve('docs/examples/jobs.csv'),
  ...['--map', 'id=name,submit=start,duration=run_ms,gpus=n,class=qos', '--time-unit', 'ms', '--nodes', '2'],
]

const serverFor = async (): Promise<{ readonly scene: Scene; readonly url: string }> => {
  const scene = await openScene()
  closing.push(scene.close)
  return { scene, url: `esdb://ops:hush@127.0.0.1:${scene.wire.port}?tls=false` }
}

/** The verb as a person starts it; its words are all that it has said. */
const up = async (data: string, url: string, words: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ['dist/services/cli/main.js', 'up', '--port', '0', '--data', data, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LEASEHOLD_VIEWS: 'none', LEASEHOLD_LOG: url },
  })
  closing.push(() => child.kill('SIGKILL'))
  let said = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const address = await new Promise<string>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8')
        const found = /address\s+(http:\S+)/.exec(said)?.[1]
        if (found !== undefined && said.includes('Ctrl-C')) resolve(found)
      })
    void ended.then((code) => {
      reject(new Error(`it ended with ${code}: ${said}`))
    })
  })
  return { address, ended, kill: (signal: NodeJS.Signals) => child.kill(signal), said: () => said }
}

describe('the log on an EventStoreDB, over the wire to a stand-in', () => {
  it('should see and decide what the embedded one does, though killed, and be read by every verb', async () => {
    const data = folder()
    const { scene, url } = await serverFor()
    const environment = { LEASEHOLD_LOG: url }
    const onServer = (...words: string[]) => run([...words, '--data', data], { environment })

    expect(await onServer('simulate', ...jobs)).toMatchObject({ code: 0 })
    expect(scene.kept.events(stream), 'what is simulated is kept in the folder').toBe(null)
    expect(await onServer('audit', 'head')).toMatchObject({ code: 1 })
    const embedded = (await run(['audit', 'digest', '--data', data])).stdout
    const exported = await run(['log', 'export', '--inputs', '--data', data])
    const lines = exported.stdout.trimEnd().split('\n')

    const words = ['--clock', 'events', '--adapter', 'none']
    const killed = await up(join(data, 'up'), url, words)
    const half = Math.floor(lines.length / 2)
    expect(await postFacts(killed.address, lines.slice(0, half))).toMatchObject({ recorded: half })
    const cutShort = postFacts(killed.address, lines.slice(half))
    killed.kill('SIGKILL')
    await killed.ended
    await cutShort
    const { stdout: headThen } = await onServer('audit', 'head')

    const { address, ended, kill, said } = await up(join(data, 'up'), url, words)
    const { duplicate, recorded, refused } = (await postFacts(address, lines))!
    expect([recorded + duplicate, refused]).toEqual([lines.length, 0])
    expect(duplicate).toBeGreaterThanOrEqual(half)
    expect(await getStatus(address)).toMatchObject({ degraded: [] })
    kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(said()).toContain(`esdb://127.0.0.1:${scene.wire.port} (stream leasehold)`)
    expect(said()).not.toContain('hush')

    expect(await onServer('audit', 'digest')).toMatchObject({ code: 0, stdout: embedded })
    const { stdout: head } = await onServer('audit', 'head')
    expect(Number(head.split(':')[0])).toBe(scene.kept.events(stream)!.length)
    for (const known of [headThen, head])
      expect(await onServer('audit', 'verify', '--head', known.trim())).toMatchObject({ code: 0 })
    expect(await onServer('replay', 'verify')).toMatchObject({ code: 0 })
    const whole = (await onServer('log', 'export')).stdout.trimEnd().split('\n')
    expect(whole).toEqual(scene.kept.events(stream)!.map((event) => Buffer.from(event.data).toString('utf8')))
    expect((await onServer('log', 'export', '--inputs')).stdout).toBe(exported.stdout)
  })

  it('should be brought into the views by a thread that reads it itself, from before its first event', async () => {
    const data = folder()
    const { scene, url } = await serverFor()
    const { address } = await up(data, url, ['--clock', 'events', '--adapter', 'none', '--views', 'embedded'])
    const lines = ['n-1', 'n-2'].map((node) => encodeFact({ ...nodeOf(node), source: 'test' }))
    expect(await postFacts(address, lines)).toMatchObject({ recorded: 2 })
    const projected = async () => (await getStatus(address))?.views?.projected
    await expect.poll(projected, { timeout: 30_000 }).toBe(scene.kept.events(stream)!.length - 1)
  })

  it('should be the only one for which its client is loaded', async () => {
    const { url } = await serverFor()
    const loadedBy = (log: string): boolean => {
      const env = { ...process.env, LEASEHOLD_LOG: log, NODE_DEBUG: 'module' }
      const words = ['dist/services/cli/main.js', 'doctor', '--data', folder()]
      const { stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
      return stderr.includes('@eventstore/db-client')
    }
    expect([loadedBy('embedded'), loadedBy(`${url.replace(/:\d+\?/, ':1?')}&defaultDeadline=200`)]).toEqual([
      false,
      true,
    ])
  })

  it('should find what somebody has changed', async () => {
    const data = folder()
    const { scene, url } = await serverFor()
    const log = await scene.open()
    await right(log.append('cell-default', -1, newEvents('a', 3)))
    const changed = scene.kept
      .events(stream)!
      .map((event, i) => (i === 1 ? { ...event, data: Buffer.from('{}') } : event))
    scene.kept.replace(stream, changed)
    const verified = await run(['audit', 'verify', '--data', data, '-o', 'json'], {
      environment: { LEASEHOLD_LOG: url },
    })
    expect(verified).toMatchObject({ code: 4 })
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, events: 1, findings: [{ position: 1 }] })
  })

  it('should say what is wrong, and no password', async () => {
    const data = folder()
    const { scene, url } = await serverFor()
    const doctor = await run(['doctor', '--data', data], { environment: { LEASEHOLD_LOG: url } })
    expect(doctor.stdout).toContain('esdb://ops:***@')
    expect(doctor.stdout).toMatch(/log +ok +none yet; it will be eventstore/)
    expect(doctor.stdout).toMatch(/log server +ok +reached on this machine/)
    scene.stop()
    const quick = { LEASEHOLD_LOG: `${url}&defaultDeadline=300` }
    const refused = await run(['audit', 'head', '--data', data], { environment: quick })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^error: the log cannot be used: esdb:\/\/127\.0\.0\.1:\d+ .*does not answer/)
    const flag = await run(['audit', 'head', '--log', url], {})
    expect(flag).toMatchObject({ code: 2 })
    const wrong = await run(['audit', 'head'], { environment: { LEASEHOLD_LOG: `${url}&hush=1` } })
    expect(wrong).toMatchObject({ code: 2 })
    for (const { stderr, stdout } of [doctor, refused, flag, wrong]) expect(stderr + stdout).not.toContain('hush')
  })
})
