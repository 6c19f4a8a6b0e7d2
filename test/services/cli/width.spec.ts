import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { policyHash } from '../../../infra/host/policy-hash.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import { CellLife, hour, minute, minutes } from '../../support/cell-life.ts'
import { lineOf } from '../../support/fact-script.ts'
import { rightOf } from '../../support/faults.ts'
import { run } from './terminal.ts'

const root = mkdtempSync(join(tmpdir(), 'width-'))
afterAll(() => {
  rmSync(root, { recursive: true })
})
const tuesday = Date.UTC(2026, 7, 4)
const width = 100

/** Every way to wait that a cell shared by budgets knows, and what people ask of it. */
const budgets = `
metadata: { name: three-programs, owner: Lea }
spec:
  mode: advise
  classes: [{ name: training, aging: 12h }, { name: debug, priority: 100, reserve: 1 }]
  queues: [{ name: default, ordering: greedy }, { name: nowhere, ordering: greedy }]
  caps: { perPerson: 12 }
  budgets:
    tree:
      - { name: product, share: 40, owner: Paula <paula@example.org>, reviewDate: 2027-12-31 }
      - { name: platform, share: 35, owner: Piotr <piotr@example.org> }
      - { name: research, share: 25, children: [{ name: vision, share: 1 }, { name: language, share: 3 }] }
  reservations:
    - { name: launch, budget: product, devices: 2, owner: Ben, justification: The launch., expires: 2999-02-01 }
  protectedPools: [{ name: pool, nodes: [node-0], budgets: [platform] }]
  headroom: { percent: 10 }
  exceptions:
    - name: vision-demo
      subject: { kind: budget, name: research/vision }
      allows: { kind: not-preempted }
      owner: Ann
      reason: The demo of the vision team at the fair in May, for which nothing may be stopped.
      expires: 2999-03-31
`

const quotas = `
metadata: { name: two-queues }
spec:
  mode: advise
  sharing: kueue
  cohorts: [{ name: all }]
  queues:
    - { name: research, ordering: greedy, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 2, borrowing: 4 } }] }
    - { name: platform, ordering: greedy, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 6, lending: 5 } }] }
`

const activated = (text: string, at: number) => {
  const document = rightOf(readDocument(text, decodePolicy))
  return { type: 'PolicyActivated', at: at as never, data: { document, hash: policyHash(document) } } as const
}

const budgetLife = (): CellLife => {
  const life = new CellLife(tuesday)
  life.tell(activated(budgets, tuesday))
  life.nodes(1, 20).drilled('product', 'platform')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  for (let i = 0; i < 7; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 9; i++)
    life.submit(`research-${i}`, 1, { budget: i % 2 === 0 ? 'research/vision' : 'research/language', ...protect })
  life.tick()
  life.at(tuesday + 24 * hour)
  for (let i = 0; i < 12; i++) life.submit(`product-release-train-${i}`, 1, { budget: 'product', ...protect })
  life.submit('stray', 1, { queue: 'defalt' }).submit('lost', 1, { budget: 'reserch' })
  life.submit('too-large-for-the-whole-fleet', 40, { budget: 'product' })
  life
    .submit('capped', 16, { budget: 'platform' })
    .submit('firm', 4, { budget: 'research/language', preemption: { tolerated: false } })
  life.tick()
  for (let step = 1; step <= 18; step++) life.at(tuesday + 24 * hour + step * 10 * minute).tick()
  return life
}

const quotaLife = (): CellLife => {
  const life = new CellLife(tuesday)
  life.tell(activated(quotas, tuesday))
  life.nodes(1, 8).submit('large', 5, { queue: 'research' }).submit('more', 4, { queue: 'research' }).tick()
  return life
}

type Asking = (...words: ReadonlyArray<string>) => ReturnType<typeof run>

const systemOf = async (name: string, life: CellLife): Promise<Asking> => {
  const folder = join(root, name)
  mkdirSync(folder)
  const facts = join(folder, 'facts.ndjson')
  writeFileSync(facts, life.told.map(({ input }, i) => `${lineOf(`f${i}`, input)}\n`).join(''))
  const ask: Asking = (...words) => run([...words, '--data', join(folder, 'data')], { workingDirectory: folder })
  expect(await ask('facts', facts)).toMatchObject({ code: 0 })
  return ask
}

const tooWide = async (ask: Asking, lines: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found: string[] = []
  for (const line of lines) {
    const { shown, stderr } = await ask(...wordsOf(line))
    expect(shown, line).not.toBe('')
    expect(stderr, line).not.toMatch(/holds no log|unexpected/)
    for (const text of shown.split('\n')) if (text.length > width) found.push(`${line}: ${text}`)
  }
  return found
}
/** Of a command line; what stands between quotes is one word. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)

const about = (id: string): ReadonlyArray<string> => [
  ...['why', 'why-preempted', 'prio', 'log', 'queue --position'].map((verb) => `${verb} ${id}`),
]
const misused = [
  'why research --at yesterday',
  'why no-such-workload',
  'share prodct',
  'queue --queue defalt',
  'queue --limit many',
  'policy check no-such-file.yaml',
  'policy activate no-such-file.yaml',
  'exception grant demo --for vision --allow cap=1 --owner Ann --reason x --expires 2999-01-01',
  'exception grant demo --for team=vision --allow cap --owner Ann --reason x --expires 2999-01-01',
  'exception grant demo --for team=vision --allow cap=1 --owner Ann --reason x --expires 2001-01-01',
  'decisions --type Helt',
  'simulate docs/examples/jobs.csv',
  'simulate docs/examples/jobs.csv --nodes 2 --policy a.yaml --policy b.yaml --gpus-per-node x --seed -1 --load-to 3',
  'node drain node-77',
  'node fail node-0 --device 77',
  'audit verify --head 17',
  'drill pass --team visoin',
  'frobnicate',
  'why',
  'log',
]

describe('what people read', () => {
  let budget: Asking
  let quota: Asking
  const life = budgetLife()
  beforeAll(async () => {
    budget = await systemOf('budgets', life)
    quota = await systemOf('quotas', quotaLife())
  })

  it('should fit 100 columns, whatever is asked of a cell that shares by budgets', async () => {
    const ids = [...life.cell.workloads.keys(), 'too-large-for-the-whole-fleet']
    const lines = [
      ...['share', 'share product', 'share research', 'share research/vision', 'queue', 'queue --limit 2', 'fleet'],
      ...['decisions', 'decisions --limit 0', 'drill list', 'policy show', 'exception list', 'commands', 'dlq list'],
      ...['audit head', 'audit verify', 'replay verify', 'doctor'],
      ...ids.flatMap(about),
      ...misused,
    ]
    expect(await tooWide(budget, lines)).toEqual([])
  })

  it('should fit 100 columns, whatever is asked of a cell that shares by quota', async () => {
    const lines = ['share', 'share all', 'share research', 'queue', 'fleet', 'policy show', 'doctor', ...misused]
    expect(await tooWide(quota, [...lines, ...about('large'), ...about('more')])).toEqual([])
  })

  it('should fit 100 columns when something is ordered', async () => {
    const [waits] = [...life.cell.workloads.values()].filter(({ run }) => run === null)
    const [runs] = [...life.cell.workloads.values()].filter(({ run }) => run !== null)
    const orders = [
      ...[`hold ${waits!.id}`, `why ${waits!.id}`, `prio ${waits!.id}`, `queue --position ${waits!.id}`],
      ...[`hold ${waits!.id}`, `release ${waits!.id}`, `release ${waits!.id}`, `hold ${runs!.id}`, `why ${runs!.id}`],
      ...[`release ${runs!.id}`, `cancel ${runs!.id} --reason "superseded"`, 'cancel no-such-workload'],
      ...['drill pass --team nobody', 'drill fail --team product --family a-model-family-with-quite-a-long-name'],
      ...['freeze --reason "a switch is replaced"', 'fleet', 'queue', 'policy show', `why ${waits!.id}`],
      ...['freeze --lift', 'freeze --pool other', 'submit docs/examples/finetune.yaml'],
      ...['exception grant other --for team=visoin --allow cap=64 --owner Ann --reason x --expires 2999-05-31'],
      ...['exception list', 'policy activate docs/examples/policies/two-programs.yaml', 'exception list', 'share'],
      ...['policy check docs/examples/policies/company.yaml', 'plan docs/examples/intent.yaml'],
      ...['simulate docs/examples/two-programs.csv --nodes 2 --policy docs/examples/policies/two-programs.yaml'],
    ]
    expect(await tooWide(quota, ['hold more', 'release more', 'hold large', 'why large'])).toEqual([])
    expect(await tooWide(budget, orders)).toEqual([])
  })

  it('should fit 100 columns in the help of every verb', async () => {
    const { stdout } = await run(['--help'])
    const verbs = Array.from(stdout.matchAll(/^ {2}([a-z-]+) /gm), ([, verb]) => verb!).filter(
      (verb) => verb !== 'help',
    )
    expect(verbs).toContain('share')
    const below = ['policy check', 'policy activate', 'policy show', 'exception grant', 'exception list', 'log export']
    const asked = ['--help', ...[...verbs, ...below].map((verb) => `${verb} --help`)]
    expect(await tooWide((...words) => run(words), asked)).toEqual([])
  })
})
