import { unstatedTerms } from '../../domain/workload/terms.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { run } from '../services/cli/terminal.ts'
import { factScript, lineOf, nodeFact } from '../support/fact-script.ts'
import { part, toIngest, type Told } from '../support/ingest-client.ts'
import { eventsIn, expectIntact } from '../support/told.ts'

/* What a sender sees whose facts are bad. Nothing stops the others, and nothing is lost. */

const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('facts', () => {
  const megabyte = Buffer.alloc(1_000_000, 'x')
  const at = (ms: number) => ms as EpochMs
  const submission = (workload: string, devices: number, ms = 10): CellInput => ({
    type: 'WorkloadSubmitted',
    at: at(ms),
    data: {
      class: 'c',
      estimateMs: null,
      queue: 'default',
      request: {
        cpuMilli: 0,
        devices,
        hostMemoryMib: 0,
        memoryMib: 0,
        milli: 1_000,
        models: null,
        span: 'node',
      } as never,
      team: 't',
      terms: unstatedTerms,
      workload,
    },
  })
  const end = (workload: string, ms: number, attempt = 1): CellInput => ({
    type: 'AttemptEnded',
    at: at(ms),
    data: { attempt, outcome: 'succeeded', workload },
  })
  const tick = (ms: number): CellInput => ({ type: 'Ticked', at: at(ms), data: {} })
  const outcomes = ({ answers }: Told) => answers.map(({ outcome }) => outcome)

  it('that repeat or come out of order should be answered one by one, and stop nobody', async () => {
    const data = join(folder, 'order')
    const beginning = (await factScript(1, 1)).slice(0, 5).map(([id, input]) => lineOf(id, input))
    const told = await toIngest(data, [
      ...beginning,
      lineOf('end-early', end('w', 9)),
      lineOf('w', submission('w', 8)),
      lineOf('w', submission('w', 8)),
      lineOf('w-again', submission('w', 8)),
      lineOf('w-other', submission('w', 4)),
      lineOf('gang', submission('gang', 900)),
      lineOf('tick', tick(20)),
      lineOf('tick-back', tick(15)),
      lineOf('tick-idle', tick(30)),
      lineOf('late', submission('late', 1, 5)),
      lineOf('end-wrong', end('w', 31, 2)),
      lineOf('end', end('w', 31)),
      lineOf('end', end('w', 31)),
      lineOf('end-twice', end('w', 32)),
      lineOf('far', tick(Date.now() + 86_400_000)),
      lineOf('node-other', nodeFact('node-0', 3)),
      lineOf('tick 2', tick(40)),
      lineOf('after', tick(40)),
      // The same fact after the end of what it brought, and a name that is used again.
      lineOf('w', submission('w', 8)),
      lineOf('w-anew', submission('w', 8, 41)),
    ])
    expect(told.code).toBe(0)
    expect(told.answers.slice(5).map(({ id, outcome, reason }) => [id, outcome, reason ?? ''].join(': '))).toEqual([
      'end-early: refused: no workload w waits or runs',
      'w: recorded: ',
      'w: duplicate: ',
      'w-again: duplicate: the cell has it already',
      'w-other: refused: another workload is named w',
      'gang: recorded: ',
      'tick: recorded: ',
      'tick-back: refused: the cell has got to 20, and 15 is before that',
      'tick-idle: unneeded: nothing was due',
      'late: recorded: ',
      'end-wrong: refused: attempt 1 of w runs, not 2',
      'end: recorded: ',
      'end: duplicate: ',
      'end-twice: refused: no workload w waits or runs',
      expect.stringMatching(/^far: refused: it is \d+ ms ahead of the clock here, above 60000$/),
      'node-other: refused: node node-0 is registered with other devices',
      expect.stringMatching(/^sha256:[0-9a-f]{64}: undecodable: id: "tick 2" has a blank in it/),
      'after: recorded: ',
      'w: duplicate: ',
      'w-anew: recorded: ',
    ])
    await expectIntact(data, await eventsIn(data))
    expect((await run(['replay', 'verify', '--data', data])).code).toBe(0)
    expect((await run(['log', 'gang', '--data', data])).stdout).toMatch(/Refused +ExceedsFleet/)
  })

  it('that are none should be kept as dead letters, once, and stop nobody', async () => {
    const data = join(folder, 'dead')
    const bad = [
      'x',
      '[]',
      '"\u001b[2J"',
      '{"id":"a","type":"Ticked","at":-1,"data":{}}',
      '{"id":"a","type":"Ticked","at":1e999,"data":{}}',
      '{"id":"a","type":"Ticked","at":NaN,"data":{}}',
      '{"id":"a","type":"Ticked","at":1,"data":{"__proto__":{"x":1}}}',
      '{"__proto__":1,"id":"a","type":"Ticked","at":1,"data":{}}',
      '{"id":"a","id":"b","type":"Ticked","at":1,"data":{}}',
      '{"id":"\u202ea","type":"Ticked","at":1,"data":{}}',
      `{"id":"a","type":"Ticked","at":1,"data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
      `${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      Buffer.from('{"id":"\0","type":"Ticked","at":1,"data":{}}'),
    ]
    const lines = [...bad, ...bad, '', lineOf('node', nodeFact('n'))]
    const told = await toIngest(data, lines)
    expect(told.code).toBe(0)
    expect(outcomes(told)).toEqual([...bad.map(() => 'undecodable'), ...bad.map(() => 'duplicate'), 'recorded'])
    for (const { reason } of told.answers.slice(0, -1)) expect(reason).toMatch(/^[^\p{Cc}]+: [^\p{Cc}]+; [^\p{Cc}]+$/u)
    await expectIntact(data, bad.length + 1)
    expect(outcomes(await toIngest(data, lines))).toEqual(lines.filter((line) => line !== '').map(() => 'duplicate'))
    await expectIntact(data, bad.length + 1)
    // Nothing that was sent moves a terminal that the log is shown on.
    const exported = await run(['log', 'export', '--data', data])
    expect(exported.stdout).not.toMatch(/[^\P{Cc}\n]/u)
    expect(exported.stdout).toContain('"type":"MessageUndecodable"')
  })

  it('with a policy under a hash that is not its own should be refused', async () => {
    const [id, activated] = (await factScript(1, 1))[4]!
    const forged = { ...activated, data: { ...activated.data, hash: 'a'.repeat(64) } } as CellInput
    const told = await toIngest(join(folder, 'hash'), [lineOf(`${id}-forged`, forged), lineOf(id, activated)])
    expect(told.answers).toEqual([
      { id: `${id}-forged`, outcome: 'refused', reason: 'its hash is not that of its document' },
      { id, outcome: 'recorded' },
    ])
  })

  it('beside a line of 100 MB should be taken in less than 300 MB', async () => {
    const data = join(folder, 'long')
    const long = [
      part(Buffer.from(`${lineOf('before', nodeFact('before'))}\n{"id":"`)),
      ...Array.from({ length: 100 }, () => part(megabyte)),
      part(Buffer.from('\n')),
      lineOf('after', nodeFact('after')),
    ]
    const { code, answers, peakMib } = await toIngest(data, long)
    expect(code).toBe(0)
    expect(answers).toMatchObject([
      { id: 'before', outcome: 'recorded' },
      { outcome: 'undecodable', reason: '$: has 100000007 bytes, above 1048576; send one fact a line' },
      { id: 'after', outcome: 'recorded' },
    ])
    console.info(`ingest of a line of 100 MB: ${peakMib} MiB`)
    expect(peakMib).toBeLessThan(300)
    await expectIntact(data, 3)
  })
})
