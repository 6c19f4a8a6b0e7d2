import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import type { Workload } from '../../../domain/planner/workload.ts'
import { policyHash } from '../../../infra/host/policy-hash.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import { CellLife, hour, minute, minutes } from '../../support/cell-life.ts'
import { lineOf } from '../../support/fact-script.ts'
import { rightOf } from '../../support/faults.ts'
import { run, saying } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'budgets-'))
const data = ['--data', join(folder, 'data')]
const tuesday = Date.UTC(2026, 7, 4)
const wednesday = tuesday + 24 * hour

const document = rightOf(
  readDocument(
    `
metadata: { name: three-programs }
spec:
  mode: advise
  classes:
    - { name: training, aging: 12h }
    - { name: debug, priority: 100 }
  queues: [{ name: default, ordering: greedy }]
  budgets:
    tree:
      - { name: product, share: 40, owner: Paula <paula@example.org>, reviewDate: 2027-12-31 }
      - { name: platform, share: 35, owner: Piotr <piotr@example.org> }
      - { name: research, share: 25 }
`,
    decodePolicy,
  ),
)

/** The worked example of the rules up to three o'clock on Wednesday, with drills and 20 GPUs. */
const wednesdayMorning = (): CellLife => {
  const life = new CellLife(tuesday)
  life.tell({ type: 'PolicyActivated', at: tuesday as never, data: { document, hash: policyHash(document) } })
  life.nodes(1, 20).drilled('product', 'platform', 'research')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  for (let i = 0; i < 7; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 20; i++)
    life.submit(`research-${i}`, 1, {
      budget: 'research',
      terms: { submitter: i % 3 === 0 ? 'ann' : 'ben' },
      ...protect,
    })
  life.tick()
  life.at(wednesday)
  for (let i = 0; i < 20; i++) life.submit(`product-${i}`, 1, { budget: 'product', ...protect })
  life.tick()
  for (let at = wednesday; at <= wednesday + 3 * hour; at += 10 * minute) life.at(at).tick()
  return life
}

let life: CellLife
/** What was told last and was needed. */
const logEnd = wednesday + 100 * minute
const at = ['--at', new Date(logEnd).toISOString()]
const ask = (...words: ReadonlyArray<string>) => run([...words, ...data])
const linesOf = (text: string): ReadonlyArray<string> => text.split('\n').filter((line) => line !== '')
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')
const anyOf = (test: (one: Workload) => boolean): string => [...life.cell.workloads.values()].find(test)!.id
const evicted = () => anyOf(({ preemptions }) => preemptions > 0)

beforeAll(async () => {
  life = wednesdayMorning()
  const facts = join(folder, 'facts.ndjson')
  writeFileSync(facts, life.told.map(({ input }, i) => `${lineOf(`f${i}`, input)}\n`).join(''))
  const told = await ask('facts', facts)
  expect(told).toMatchObject({ code: 0 })
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('share', () => {
  it('should tell how every node stands, in 100 columns, with the figures of the worked example', async () => {
    const { code, stdout, stderr } = await ask('share', ...at)
    expect(code).toBe(0)
    for (const line of linesOf(stdout)) expect(line.length).toBeLessThanOrEqual(100)
    expect(stdout).toMatch(/^NODE +SHARE +HOLDS +OWED +GOT +CHARGED +DEBT +CREDIT +STANDS +NEXT TURN$/m)
    expect(stdout).toMatch(/^ {2}product +40 +8 of 8 +24 +22\.67 +22\.67 +1\.333 +192 +even/m)
    expect(stdout).toMatch(/^product +Paula <paula@example\.org> +2027-12-31$/m)
    expect(stderr).toMatch(/GPU-hours over the last 167 hours and the open one\./)
  })
  it('should give the same as numbers, and of one node in words', async () => {
    const { stdout } = await ask('share', 'product', '-o', 'json', ...at)
    expect(JSON.parse(stdout)).toMatchObject({
      nodes: [
        { node: 'product', entitledMilli: 8_000, heldMilli: 8_000, owedMilliUnitH: 24_000, deliveredMilli: 944 },
        { node: 'product/unknown', kind: 'person' },
      ],
    })
    const said = (await ask('share', 'product', ...at)).stdout
    for (const line of linesOf(said)) expect(line).toMatch(/^.{0,99}\S$/)
    for (const line of linesOf((await ask('share', 'research', ...at)).stdout)) expect(line).toMatch(/^.{0,99}\S$/)
    const narrow = await run(['share', 'research', ...at, ...data], { columns: 90, environment: { NO_COLOR: '1' } })
    expect(linesOf(narrow.stdout).filter((line) => line.length > 90)).toEqual([])
    const told = flat(said)
    expect(told).toContain('product has a share of 40, now 8 GPUs. It holds 8 GPUs.')
    expect(told).toContain('94.4 % of what it was owed was delivered')
    expect(await ask('share', 'prodct', ...at)).toMatchObject({ code: 1, stderr: saying('did you mean product?') })
  })
})

describe('prio and queue --position', () => {
  it('should rank siblings at each level, and say where the workload stands among its own', async () => {
    const last = anyOf(({ id }) => id === 'product-19')
    const prio = flat((await ask('prio', last, ...at)).stdout)
    expect(prio).toMatch(/1 \* product 40 12 22\.67 24 0\.944 192 2 research 25 15 136 135 1\.010 0 - platform 35 0 /)
    expect(prio).toContain('position 12, behind product-8, product-9, product-10 and 8 more')
    const { stdout, stderr } = await ask('queue', '--position', last, '--limit', '2', ...at)
    expect(linesOf(stdout)).toHaveLength(4)
    expect(stderr).toContain('... and 9 more: --limit 0 shows all.')
    expect(await ask('prio', 'product-0', ...at)).toMatchObject({ code: 3, stderr: saying('product-0 runs') })
  })
})

describe('why --at', () => {
  it('should know no workload before its submission, whatever became of it', async () => {
    const before = ['--at', new Date(tuesday + hour).toISOString()]
    const said = saying('there was no workload product-0 yet; it was submitted 2026-08-05 00:00:00 UTC')
    expect(await ask('why', 'product-0', ...before)).toMatchObject({ code: 1, stdout: '', stderr: said })
    expect(await ask('why', 'product-0', '-o', 'json', ...before)).toMatchObject({ code: 1, stdout: '', stderr: said })
    expect(await ask('why', 'research-0', ...before)).toMatchObject({
      code: 0,
      stdout: saying('research-0 is advised to run'),
    })
  })
})

describe('--at', () => {
  it('should give no answer for an instant that the log has not reached', async () => {
    const said =
      /^error: what was asked is not valid at: nothing is known of .* yet: the log reaches to .*; give at most \S+Z, /
    for (const words of [
      ['queue'],
      ['queue', '--position', evicted()],
      ['fleet'],
      ['decisions'],
      ['share'],
      ['why', evicted()],
      ['prio', evicted()],
      ['plan', resolve('docs/examples/finetune.yaml')],
      ['drill', 'list'],
    ]) {
      const { code, stderr, stdout } = await ask(...words, '--at', new Date(logEnd + 1).toISOString())
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' })
      expect(flat(stderr)).toMatch(said)
    }
  })
})

describe('why-preempted', () => {
  it('should say for whom, with both sides in numbers, what was lost and what came of it', async () => {
    const told = flat((await ask('why-preempted', evicted())).stdout)
    expect(told).toMatch(/2026-08-05 00:\d0:00 UTC: attempt 1 was asked to stop for product-\d; it gave back 1 GPU\./)
    expect(told).toMatch(/For product was charged [\d.]+ of [\d.]+ GPU-hours .*; it held \d of the 8 /)
    expect(told).toMatch(/From research was charged [\d.]+ of [\d.]+ .*; it held \d+ of the 5 /)
    expect(told).toMatch(/Instead of \d+ running attempts .* 1 GPU freed for 1 needed/)
    expect(told).toMatch(/it left 2026-08-05 00:\d0:00 UTC, and has not gone on: .* so far; product-\d started/)
    expect((await ask('why-preempted', 'product-0')).stdout).toBe('product-0 has made room for nobody.\n')
    expect(await ask('why-preempted', 'product-99')).toMatchObject({ code: 1, stderr: saying('did you mean') })
  })
})

describe('hold, release and drill', () => {
  it('should put a workload on hold once, and let it go once', async () => {
    const workload = evicted()
    const hold = await ask('hold', workload, '--reason', 'the data set is being mended')
    expect(hold).toMatchObject({ code: 0, stdout: saying(`${workload} is on hold: recorded, at position `) })
    expect(await ask('hold', workload)).toMatchObject({
      code: 0,
      stdout: saying('on hold already: nothing was changed'),
    })
    expect(flat((await ask('why', workload)).stdout)).toContain(`OnHold: somebody asked that it wait: \`leasehold log`)
    const { stdout, stderr } = await ask('queue')
    expect(stdout).toMatch(new RegExp(`^default +- +- +${workload} .* OnHold$`, 'm'))
    const running = [...life.cell.workloads.values()].filter(({ run }) => run !== null).length
    expect(stderr).toContain(`; ${running} run, 1 on hold.`)
    expect((await ask('fleet')).stdout).toMatch(/ waiting, 1 on hold\.\n$/)
    const listed = JSON.parse((await ask('queue', '-o', 'json', '--limit', '0')).stdout) as ReadonlyArray<unknown>
    expect(listed.at(-1)).toMatchObject({ workload, position: null, code: 'OnHold' })
    expect(await ask('prio', workload)).toMatchObject({ code: 3, stderr: saying(`leasehold release ${workload}`) })
    expect(await ask('release', workload)).toMatchObject({ code: 0, stdout: saying(': recorded, at position ') })
    expect(await ask('release', workload)).toMatchObject({ code: 0, stdout: saying('was not on hold, and waits') })
    expect(await ask('hold', 'nobody')).toMatchObject({ code: 1, stderr: saying('there is no workload nobody') })
  })
  it('should record drills, and list the newest of each', async () => {
    expect(await ask('drill', 'pass', '--team', 'vision', '--family', 'vit')).toMatchObject({ code: 0 })
    expect(await ask('drill', 'fail', '--team', 'vision', '--family', 'vit')).toMatchObject({ code: 0 })
    const { stdout } = await ask('drill', 'list', '-o', 'json')
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        team: 'vision',
        modelFamily: 'vit',
        outcome: 'failed',
        counts: false,
        validUntil: null,
      }),
    )
    const misspelt = await ask('drill', 'pass', '--team', 'reserch')
    expect(misspelt).toMatchObject({ code: 0, stdout: saying('The drill of reserch passed: recorded') })
    expect(misspelt.stderr).toBe('No workload of a team reserch waits or runs: did you mean research?\n')
    expect((await ask('drill', 'pass', '--team', 'nobody')).stderr).toBe(
      'No workload of a team nobody waits or runs.\n',
    )
    expect((await ask('drill', 'pass', '--team', 'research')).stderr).toBe('')
    expect(await ask('drill', 'pass')).toMatchObject({ code: 2, stderr: saying('--team') })
  })
})
