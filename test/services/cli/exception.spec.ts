import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lineOf, nodeFact } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { type Ran, run, saying } from './terminal.ts'

const folderFor = tempFolder()

const policy = `
metadata: { name: keeping, owner: Lea }
spec:
  queues: [{ name: default, budget: lab }]
  budgets: { tree: [{ name: lab, share: 1, owner: Lea }, { name: product, share: 1 }] }
  reservations:
    - { name: launch, budget: product, devices: 2, owner: Ben, justification: The launch., expires: 2999-02-01 }
  protectedPools: [{ name: pool, nodes: [node-0], budgets: [lab] }]
  headroom: { percent: 25 }
`

const system = async () => {
  const folder = folderFor()
  const ask = (...words: ReadonlyArray<string>): Promise<Ran> =>
    run([...words, '--data', join(folder, 'data')], { workingDirectory: folder })
  const [document, facts] = [join(folder, 'policy.yaml'), join(folder, 'facts.ndjson')]
  writeFileSync(document, policy)
  writeFileSync(facts, `${lineOf('n0', nodeFact('node-0'))}\n`)
  expect((await ask('facts', facts)).code).toBe(0)
  expect((await ask('policy', 'activate', document)).code).toBe(0)
  return { ask, folder }
}
const grant = (...more: ReadonlyArray<string>) => [
  ...['exception', 'grant', 'demo', '--for', 'team=vision', '--allow', 'cap=4.5'],
  ...['--owner', 'Ann', '--reason', 'The demo.', ...more],
]

describe('exception', () => {
  it('should be granted once, with its owner, its reason and its end, and be listed', async () => {
    const { ask } = await system()
    expect((await ask('exception', 'list')).stderr).toBe('Policy keeping has no exceptions.\n')
    const granted = await ask(...grant('--expires', '2999-03-01'))
    expect(granted).toMatchObject({
      code: 0,
      stdout: saying('demo holds until 2999-03-01: recorded, at position '),
    })
    const { stdout } = await ask('exception', 'list')
    expect(stdout).toMatch(/^NAME +FOR +ALLOWS +UNTIL +HOLDS +OWNER +REASON$/m)
    expect(stdout).toMatch(/^demo +team vision +cap of 4\.5 GPUs +2999-03-01 +yes +Ann +The demo\.$/m)
    expect(JSON.parse((await ask('exception', 'list', '-o', 'json')).stdout)).toEqual([
      {
        name: 'demo',
        subject: { kind: 'team', name: 'vision' },
        allows: { kind: 'cap', devicesMilli: 4_500 },
        owner: 'Ann',
        reason: 'The demo.',
        expires: '2999-03-01',
        granted: true,
        holds: true,
      },
    ])
    expect((await ask('exception', 'list', '-o', 'csv')).stdout).toContain(
      'demo,team,vision,cap,4500,2999-03-01,true,Ann',
    )
    expect(await ask(...grant('--expires', '2999-03-01'))).toMatchObject({ code: 2, stderr: saying('demo') })
  })

  it.each([
    ['its end', grant(), '--expires'],
    ['a day that exists', grant('--expires', '2999-02-30'), 'expires: "2999-02-30" is a day that does not exist'],
    ['somebody', grant('--expires', '2999-01-01', '--for', 'vision'), '--for: "vision" says nothing of that kind'],
    ['a kind of subject', grant('--expires', '2999-01-01', '--for', 'tem=v'), 'did you mean team?'],
    ['a cap in devices', grant('--expires', '2999-01-01', '--allow', 'cap'), 'write cap=DEVICES, or one of'],
    ['a cap of devices', grant('--expires', '2999-01-01', '--allow', 'cap=many'), 'write cap=DEVICES, or one of'],
  ])('should be asked for %s', async (_, words, said) => {
    const { ask } = await system()
    expect(await ask(...words)).toMatchObject({ code: 2, stdout: '', stderr: saying(said) })
    expect((await ask('exception', 'list', '-o', 'json')).stdout).toBe('[]\n')
  })
})

describe('policy show', () => {
  const granted = async () => {
    const made = await system()
    await made.ask(...grant('--expires', '2999-03-01'))
    return made
  }
  it('should tell whose it is, what it keeps for whom until when, and what is made of that', async () => {
    const { ask } = await granted()
    const { stdout } = await ask('policy', 'show')
    expect(stdout).toMatch(/^owner +Lea$/m)
    expect(stdout).toMatch(/^reservation +launch +product +2 GPUs +holds 0, 2 idle +2999-02-01 +Ben$/m)
    expect(stdout).toMatch(/^pool +pool +lab +safe on 8 GPUs +holds 0, others 0 +- +-$/m)
    expect(stdout).toMatch(/^headroom +- +preemptible +25 %, lent +others hold 0 of 6 +- +-$/m)
    expect(stdout).toMatch(/^exception +demo +team vision +cap of 4\.5 GPUs +holds +2999-03-01 +Ann$/m)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
    const json = JSON.parse((await ask('policy', 'show', '-o', 'json')).stdout) as unknown
    expect(json).toMatchObject({
      name: 'keeping',
      reservations: [{ keptMilli: 2_000 }],
      exceptions: [{ name: 'demo' }],
    })
  })
  it('should print the document that says the same, exceptions and all', async () => {
    const { ask, folder } = await granted()
    const again = join(folder, 'again.yaml')
    for (const format of ['table', 'json']) {
      const { stdout } = await ask('policy', 'show', '--document', '-o', format)
      writeFileSync(again, stdout)
      const said = saying('policy keeping is in force (that was recorded before)')
      expect(await ask('policy', 'activate', again)).toMatchObject({ code: 0, stdout: said })
    }
  })
  it('should say that there is none', async () => {
    const { ask } = await granted()
    expect(await ask('policy', 'show', '--at', '0')).toMatchObject({
      code: 3,
      stderr: saying('there is no policy in force; activate a policy first'),
    })
  })
})
