import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folderFor = tempFolder()

const simulated = async (policy: string, ...words: ReadonlyArray<string>) => {
  const folder = folderFor()
  const [jobs, document] = [join(folder, 'jobs.csv'), join(folder, 'policy.yaml')]
  writeFileSync(jobs, 'id,submit,duration,gpus,queue\na,0,60,8,paid\nb,0,60,8,free\nc,0,60,8,nowhere\n')
  writeFileSync(document, policy)
  return run(['simulate', jobs, '--nodes', '1', '--policy', document, ...words])
}

const queues = 'queues: [{ name: paid, budget: lab }, { name: free }]'
const onePerson =
  'all 3 jobs count as one person, `unknown`, and none may be evicted: caps per person and taking back mean nothing here'

it('should say what budgets ask about and no trace tells', async () => {
  const policy = `spec: { ${queues}, budgets: { tree: [{ name: lab, share: 1, owner: Ann }] } }\n`
  const { code, stderr, stdout } = await simulated(policy)
  expect(code).toBe(0)
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
    `${onePerson}. 2 jobs are Misconfigured: the queue leads to no budget; `,
  )
  expect(stderr).toContain('2 jobs never started and are in no figure of waits: Misconfigured 2.')
  expect(stdout).toMatch(/^misconfigured +2$/m)
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  const { stdout: json } = await simulated(policy, '-o', 'json')
  expect(JSON.parse(json)).toMatchObject({ jobs: 3, onePerson, misconfigured: 2 })
})

it('should say nothing of it where budgets share nothing', async () => {
  const { stderr, stdout } = await simulated('spec: { queues: [{ name: paid }, { name: free }] }\n', '-o', 'json')
  expect(stderr).not.toContain('one person')
  expect(JSON.parse(stdout)).not.toHaveProperty('onePerson')
})

const halves = `
metadata: { name: halves }
spec:
  mode: MODE
  queues: [{ name: paid, budget: product }, { name: free, budget: research }]
  budgets: { reclaimAfter: 1m, turn: 1m, tree: [{ name: product, share: 1 }, { name: research, share: 1 }] }
`
const firstCome = 'metadata: { name: first-come }\nspec: { queues: [{ name: paid }, { name: free }] }\n'

/** Research fills the fleet for a day; product comes after an hour. */
const contested = [
  'id,submit,duration,gpus,queue,submitter,preemptible,checkpoint',
  ...Array.from({ length: 8 }, (_, i) => `r${i},0,24,1,free,ann,yes,1`),
  ...Array.from({ length: 4 }, (_, i) => `p${i},1,10,1,paid,ben,,`),
]
const compared = (mode: string, ...words: ReadonlyArray<string>) => {
  const folder = folderFor()
  const [jobs, own, other] = ['jobs.csv', 'halves.yaml', 'first.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(jobs, `${contested.join('\n')}\n`)
  writeFileSync(own, halves.replace('MODE', mode))
  writeFileSync(other, firstCome)
  const what = ['simulate', jobs, '--time-unit', 'h', '--nodes', '1', '--policy', own]
  return run([...what, ...words.map((word) => (word === 'OTHER' ? other : word))])
}

it.each(['automate', 'advise'])(
  'should let programs take back what they are owed, and say what each got: %s',
  async (mode) => {
    const { code, stdout, stderr } = await compared(mode, '-o', 'json')
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('one person') as string })
    expect(JSON.parse(stdout)).toMatchObject({
      jobs: 12,
      neverStarted: 0,
      evictions: 4,
      onePerson: null,
      programs: { product: { owedGpuHours: expect.closeTo(40, 0) as number }, research: { delivered: 1 } },
    })
    const { lostGpuHours, programs } = JSON.parse(stdout) as {
      lostGpuHours: number
      programs: { product: { delivered: number } }
    }
    expect(programs.product.delivered).toBeGreaterThan(0.9)
    expect(lostGpuHours).toBeLessThan(4)
  },
)

it('should set policies side by side, and hold all of them to the shares of the one that has them', async () => {
  const table = await compared('automate', '--policy', 'OTHER')
  expect(table).toMatchObject({ code: 0, stderr: expect.stringContaining('No log of these runs was kept.') as string })
  expect(table.stdout).toMatch(/^FIGURE +HALVES +FIRST-COME$/m)
  expect(table.stdout).toMatch(/^evictions +4 +0$/m)
  for (const line of table.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  const runs = JSON.parse((await compared('automate', '--policy', 'OTHER', '-o', 'json')).stdout) as ReadonlyArray<{
    readonly policy: string
    readonly programs: { readonly product: { readonly delivered: number } }
  }>
  expect(runs.map(({ policy }) => policy)).toEqual(['halves', 'first-come'])
  const [own, other] = runs.map(({ programs }) => programs.product.delivered) as [number, number]
  expect(own).toBeGreaterThan(0.9)
  // It waits for 23 of 33 hours.
  expect(other).toBeCloseTo(10 / 33, 2)
  const csv = await compared('automate', '--policy', 'OTHER', '-o', 'csv')
  expect(csv.stdout).toMatch(/^figure,halves,first-come\r\n/)
  const kept = await compared('automate', '--policy', 'OTHER', '--data', folderFor())
  expect(kept).toMatchObject({ code: 2, stderr: expect.stringContaining('--data: keeps the log of one run') as string })
})

it('should take from flags what a trace does not say', async () => {
  const policy = `spec: { ${queues}, budgets: { tree: [{ name: lab, share: 1, owner: Ann }] } }\n`
  const flags = ['--preemptible', '--checkpoint', '10m', '--min-runtime', '1h']
  const { stderr, stdout } = await simulated(policy, ...flags, '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    evictions: 0,
    onePerson: 'all 3 jobs count as one person, `unknown`: caps per person mean nothing here',
  })
  expect(stderr).not.toContain('evicted')
  const bad = await simulated(policy, '--checkpoint', 'often', '--min-runtime', '1')
  expect(bad.code).toBe(2)
  expect(bad.stderr).toMatch(/ {2}--checkpoint: [^]*\n {2}--min-runtime: /)
})
