import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'
import { getStatus, postFacts } from '../support/up-client.ts'
import { describeOnData } from '../support/shared-data.ts'
import { openbOn, simulated } from '../support/simulated.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { storedIn } from '../support/up-stored.ts'
import { run } from '../services/cli/terminal.ts'

const folder = tempFolder()
const left: (() => void)[] = []
afterEach(() => {
  for (const end of left.splice(0)) end()
})

/** The verb itself, as a person starts it. */
const up = async (words: ReadonlyArray<string>) => {
  const process_ = spawn(process.execPath, ['dist/services/cli/main.js', 'up', '--port', '0', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  left.push(() => process_.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => process_.once('exit', resolve))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(process_.stdout).on('line', (line) => {
      const [, found] = /address\s+(http:\S+)/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    void ended.then((code) => {
      reject(new Error(`it ended with ${code}`))
    })
  })
  return { address, kill: (signal: NodeJS.Signals) => process_.kill(signal), ended }
}

const inputsOf = async (data: string): Promise<ReadonlyArray<string>> => {
  const file = join(folder(), 'inputs.ndjson')
  expect(await run(['log', 'export', '--inputs', '--out', file, '--data', data])).toMatchObject({ code: 0 })
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

describeOnData('a simulated log', () => {
  it('should come out the same when its inputs are posted to a running system', { timeout: 120_000 }, async () => {
    const data = folder()
    const { events, logDigest } = await simulated(openbOn(48, 'greedy'), data)
    const lines = await inputsOf(data)
    const fresh = folder()
    const { address, ended, kill } = await up([
      '--clock',
      'events',
      '--adapter',
      'none',
      '--views',
      'none',
      '--data',
      fresh,
    ])
    const before = performance.now()
    const answer = await postFacts(address, lines)
    const seconds = (performance.now() - before) / 1_000
    console.info(`${lines.length} facts in ${seconds.toFixed(2)} s: ${Math.round(lines.length / seconds)} a second`)
    expect(answer).toMatchObject({ recorded: lines.length, refused: 0, undecodable: 0 })
    expect(await postFacts(address, lines.slice(0, 500))).toMatchObject({ recorded: 0, duplicate: 500 })
    expect(await getStatus(address)).toMatchObject({ events, degraded: [] })
    kill('SIGTERM')
    expect(await ended).toBe(0)
    expect((await storedIn(fresh)).digest).toBe(logDigest)
  })
})

it(
  'should refuse to tick by the clock on a log that counts from the start of a trace',
  { timeout: 60_000 },
  async () => {
    const data = folder()
    expect(
      (
        await run([
          'simulate',
          'docs/examples/jobs.csv',
          '--map',
          'id=name,submit=start,duration=run_ms,gpus=n,class=qos',
          '--time-unit',
          'ms',
          '--nodes',
          '2',
          '--data',
          data,
        ])
      ).code,
    ).toBe(0)
    const refused = await run(['up', '--port', '0', '--views', 'none', '--data', data])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('add --clock events, or name another folder with --data')
  },
)

it('should say who holds the folder, and let go of it when it is told to', { timeout: 60_000 }, async () => {
  const data = folder()
  const first = await up(['--views', 'none', '--data', data])
  const second = await run(['up', '--port', '0', '--views', 'none', '--data', data])
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(first.address)
  first.kill('SIGINT')
  expect(await first.ended).toBe(0)
  const third = await up(['--views', 'none', '--data', data])
  expect(await getStatus(third.address)).toMatchObject({ mode: 'automate', degraded: [], views: null })
})
