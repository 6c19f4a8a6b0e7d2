import { join } from 'node:path'
import { expect, it } from 'vitest'
import { getStatus, postFacts } from '../support/up-client.ts'
import { describeOnData } from '../support/shared-data.ts'
import { inputsOf, openbOn, simulated } from '../support/simulated.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { upVerb } from '../support/up-verb.ts'
import { storedIn } from '../support/up-stored.ts'
import { run } from '../services/cli/terminal.ts'

const folder = tempFolder()
const up = upVerb()

describeOnData('a simulated log', () => {
  it('should come out the same when its inputs are posted to a running system', { timeout: 120_000 }, async () => {
    const data = folder()
    const { events, logDigest } = await simulated(openbOn(48, 'greedy'), data)
    const lines = await inputsOf(data, join(folder(), 'inputs.ndjson'))
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
