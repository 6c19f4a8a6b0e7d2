import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lineOf, nodeFact } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { run, saying, type Ran } from './terminal.ts'

const folderFor = tempFolder()

const tree = `
metadata: { name: tree, owner: Lea }
spec:
  mode: advise
  queues: [{ name: default, budget: lab }]
  budgets: { tree: [{ name: lab, share: 1, owner: Lea }] }
`
const plain = 'metadata: { name: plain }\nspec: { mode: advise, queues: [{ name: default }] }\n'

type Ask = (...words: ReadonlyArray<string>) => Promise<Ran>

/** A node of eight GPUs under a policy; `submit` takes an intent in YAML. */
const system = async (policy: string) => {
  const folder = folderFor()
  const ask: Ask = (...words) => run([...words, '--data', join(folder, 'data')], { workingDirectory: folder })
  const file = async (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return Promise.resolve(path)
  }
  const facts = async (...lines: ReadonlyArray<string>) => {
    const told = await ask('facts', await file('facts.ndjson', lines.map((line) => `${line}\n`).join('')))
    expect(told).toMatchObject({ code: 0 })
  }
  await facts(lineOf('n0', nodeFact('node-0')))
  expect(await ask('policy', 'activate', await file('policy.yaml', policy))).toMatchObject({ code: 0 })
  const submit = async (name: string, count: number, queue = 'default') => {
    const intent = `metadata: { name: ${name}, team: lab }\nspec: { queue: ${queue}, preferred: { count: ${count} } }\n`
    return ask('submit', await file(`${name}.yaml`, intent))
  }
  const tick = async (at: number) => facts(lineOf(`t${at}`, { type: 'Ticked', at: at as never, data: {} }))
  return { ask, facts, file, submit, tick }
}

describe('what is told of orders that people give', () => {
  /** One runs, and one waits for its end. */
  const begun = async (): Promise<Ask> => {
    const { ask, submit, tick } = await system(tree)
    await submit('runs', 6)
    await tick(Date.now() + 1_000)
    await submit('waits', 4)
    await tick(Date.now() + 2_000)
    return ask
  }

  it('should say of a release what it changed, and of what never was on hold that nothing was changed', async () => {
    const ask = await begun()
    const said = async (...words: ReadonlyArray<string>) => (await ask(...words)).stdout.replaceAll(/\s+/g, ' ')
    expect(await said('release', 'waits')).toBe('waits was not on hold, and waits for its turn: nothing was changed ')
    expect(await said('release', 'runs')).toBe('runs was not on hold, and runs: nothing was changed ')
    expect(await said('hold', 'waits')).toContain('waits is on hold: recorded')
    expect(await said('hold', 'waits')).toBe('waits is on hold already: nothing was changed ')
    expect(await said('release', 'waits')).toContain('waits waits for its turn again: recorded')
  })

  it('should show the hold of what runs, where people look for it', async () => {
    const ask = await begun()
    const held = await ask('hold', 'runs', '--reason', 'the data set is being mended')
    expect(held.stdout).toMatch(
      /runs runs on, and once it is stopped it will not start again until\s+released: recorded/,
    )
    expect(await ask('why', 'runs')).toMatchObject({
      stdout: saying('On hold once it is stopped it will not start again before `leasehold release runs`.'),
    })
    expect(await ask('queue')).toMatchObject({ stderr: saying('runs runs and is on hold: once stopped, not started') })
    expect(await ask('release', 'runs')).toMatchObject({ stdout: saying('runs runs, and may start again once') })
    expect((await ask('why', 'runs')).stdout).not.toContain('On hold')
    expect((await ask('queue')).stderr).not.toContain('on hold')
  })

  it('should say beside what waits and runs that everything is frozen, and in which mode it would be', async () => {
    const ask = await begun()
    expect((await ask('freeze', '--reason', 'a switch')).code).toBe(0)
    const frozen = saying('The pool is frozen: nothing starts and no command is sent before `leasehold freeze --lift`.')
    for (const verb of ['queue', 'fleet']) expect(await ask(verb)).toMatchObject({ stderr: frozen })
    expect(JSON.parse((await ask('fleet', '-o', 'json')).stdout)).toMatchObject({ standing: 'frozen' })
    expect((await ask('policy', 'show')).stdout).toMatch(/^mode +advise, and frozen: nothing starts$/m)
    expect(JSON.parse((await ask('policy', 'show', '-o', 'json')).stdout)).toMatchObject({
      mode: 'advise',
      frozen: true,
    })
    expect((await ask('freeze', '--lift')).code).toBe(0)
    expect((await ask('queue')).stderr).not.toContain('frozen')
    expect((await ask('policy', 'show')).stdout).toMatch(/^mode +advise$/m)
  })

  it('should say that nobody runs the folder, unless an instant was asked for', async () => {
    const ask = await begun()
    const words = 'Nobody runs this folder: that is as of its last event, '
    for (const line of ['queue', 'fleet', 'share', 'why waits', 'prio waits'])
      expect(await ask(...line.split(' ')), line).toMatchObject({ code: 0, stderr: saying(words) })
    expect((await ask('queue', '--at', '1000')).stderr).not.toContain('Nobody runs')
    expect((await ask('queue', '-o', 'json')).stderr).toBe('')
  })

  it('should say what the columns of shares mean, and that each level is judged by itself', async () => {
    const ask = await begun()
    const { stderr } = await ask('share')
    expect(stderr).toMatch(
      /^Each level is judged by itself: sums need not add up\. Columns: `leasehold share --help`\.$/m,
    )
    const { stdout } = await ask('share', '--help')
    for (const column of ['OWED', 'GOT', 'CHARGED', 'DEBT', 'CREDIT', 'STANDS', 'NEXT TURN'])
      expect(stdout).toMatch(new RegExp(`^ {2}${column} +[a-z]`, 'm'))
  })
})

describe('a start that failed', () => {
  it('should be told to who asks why it waits: how often, when last, and what the adapter said', async () => {
    const { ask, facts, submit, tick } = await system(plain.replace('advise', 'automate'))
    await submit('broken', 1)
    const begin = Date.now() + 1_000
    await tick(begin)
    const fail = (attempt: number, at: number) =>
      facts(
        lineOf(`failed-${attempt}`, {
          type: 'CommandConcluded',
          at: at as never,
          data: {
            attempt,
            command: `broken/${attempt}/start`,
            outcome: 'failed',
            reason: `no image ${attempt} of that name`,
            verb: 'start',
            workload: 'broken',
          },
        }),
      )
    await fail(1, begin + 1_000)
    await tick(begin + 2_000)
    await fail(2, begin + 3_000)
    const why = JSON.parse((await ask('why', 'broken', '-o', 'json')).stdout) as unknown
    expect(why).toMatchObject({
      state: 'waiting',
      failedStarts: { count: 2, countMax: 3, at: begin + 3_000, reason: 'no image 2 of that name' },
    })
    expect(await ask('why', 'broken')).toMatchObject({ stdout: saying('Failed to start 2 times, the last') })
    expect(await ask('why', 'broken')).toMatchObject({
      stdout: saying('no image 2 of that name. After 3 it is given up'),
    })
    const then = await ask('why', 'broken', '--at', String(begin + 1_500))
    expect(then).toMatchObject({ stdout: saying('Failed to start once,') })
    expect(then).toMatchObject({ stdout: saying('no image 1 of that name') })
  })
})

describe('what was granted', () => {
  const grant = ['exception', 'grant', 'demo', '--allow', 'cap=4', '--owner', 'Ann', '--reason', 'The demo.']
  const named = async (ask: Ask) =>
    (JSON.parse((await ask('exception', 'list', '-o', 'json')).stdout) as ReadonlyArray<{ name: string }>).map(
      ({ name }) => name,
    )

  it('should hold on when another document is activated, which says so and what of it will surprise', async () => {
    const { ask, file } = await system(tree)
    expect(await ask(...grant, '--for', 'team=lab', '--expires', '2999-05-31')).toMatchObject({ code: 0 })
    const other = await file('other.yaml', tree.replace('name: tree', 'name: other'))
    const activated = await ask('policy', 'activate', other)
    expect(activated).toMatchObject({ code: 0, stdout: saying('policy other is in force: recorded') })
    expect(activated).toMatchObject({
      stderr: saying('Exception demo, which was granted, holds on until 2999-05-31; Ann answers for it.'),
    })
    expect(activated).toMatchObject({ stderr: saying('warning: metadata.reviewDate: is missing') })
    expect(await named(ask)).toEqual(['demo'])
    const own = await file(
      'own.yaml',
      `${tree}  exceptions:\n    - { name: stated, subject: { kind: team, name: lab }, allows: { kind: not-preempted }, owner: Ben, reason: So., expires: 2999-01-01 }\n`,
    )
    expect((await ask('policy', 'activate', own)).code).toBe(0)
    expect(await named(ask)).toEqual(['stated', 'demo'])
    // What a document states goes with it.
    expect((await ask('policy', 'activate', other)).code).toBe(0)
    expect(await named(ask)).toEqual(['demo'])
    expect(JSON.parse((await ask('policy', 'activate', other, '-o', 'json')).stdout)).toMatchObject({
      kept: [{ name: 'demo', owner: 'Ann', expires: '2999-05-31' }],
      outcome: 'duplicate',
    })
  })

  it('should be refused beside a document that lacks what it names, with what ends it', async () => {
    const { ask, file } = await system(tree)
    expect(await ask(...grant, '--for', 'budget=lab', '--expires', '2999-05-31')).toMatchObject({ code: 0 })
    const other = await file('other.yaml', tree.replaceAll('lab', 'hall'))
    expect(await ask('policy', 'activate', other)).toMatchObject({
      code: 2,
      stderr: saying('exception demo: there is no budget lab; `leasehold exception revoke demo` ends what was granted'),
    })
  })

  it('should be revoked before its date, once', async () => {
    const { ask } = await system(tree)
    expect(await ask(...grant, '--for', 'team=lab', '--expires', '2999-05-31')).toMatchObject({ code: 0 })
    const misspelt = await ask('exception', 'revoke', 'demmo')
    expect(misspelt).toMatchObject({ code: 1, stderr: saying('has no exception demmo; did you mean demo?') })
    const revoked = await ask('exception', 'revoke', 'demo', '--reason', 'it is over')
    expect(revoked).toMatchObject({ code: 0, stdout: saying('demo holds no longer: recorded, at position') })
    expect(await named(ask)).toEqual([])
    expect((await ask('exception', 'revoke', 'demo')).code).toBe(1)
    expect((await ask('replay', 'verify')).code).toBe(0)
  })

  it('should be refused by the flags that are wrong, and say that nobody of that name is known', async () => {
    const { ask, submit } = await system(tree)
    await submit('work', 1)
    const said = async (...words: ReadonlyArray<string>) => (await ask(...grant, ...words)).stderr
    expect(await said('--for', 'team=lab', '--expires', '2001-01-01')).toMatch(/^ {2}--expires: 2001-01-01 has begun/m)
    expect(await said('--for', 'tem=lab', '--expires', '2999-01-01')).toMatch(/^ {2}--for: /m)
    expect(await said('--for', 'budget=lob', '--expires', '2999-01-01')).toMatch(/^ {2}--for: there is no budget lob/m)
    const strange = await ask(...grant, '--for', 'team=lob', '--expires', '2999-01-01')
    expect(strange).toMatchObject({ code: 0, stderr: saying('Nothing of team lob waits or runs: did you mean lab?') })
  })
})

describe('what is told of the past, and of what is gone', () => {
  it('should tell the life of a workload, whom it made room for and what is asked of adapters as of an instant', async () => {
    const { ask, submit, tick } = await system(tree)
    await submit('one', 8)
    const begin = Date.now() + 1_000
    await tick(begin)
    const early = String(begin - 1)
    expect((await ask('hold', 'one')).code).toBe(0)
    const types = async (...words: ReadonlyArray<string>) =>
      (JSON.parse((await ask('log', 'one', '-o', 'json', ...words)).stdout) as ReadonlyArray<{ type: string }>).map(
        ({ type }) => type,
      )
    expect(await types()).toEqual(['WorkloadSubmitted', 'WorkloadAdmitted', 'HoldRequested'])
    expect(await types('--at', early)).toEqual(['WorkloadSubmitted'])
    expect(await ask('why-preempted', 'one', '--at', early)).toMatchObject({ code: 0 })
    expect(JSON.parse((await ask('why-preempted', 'one', '--at', early, '-o', 'json')).stdout)).toMatchObject({
      at: begin - 1,
    })
    expect((await ask('commands', '--at', early)).code).toBe(0)
    for (const verb of ['log', 'why-preempted']) {
      const before = await ask(verb, 'one', '--at', '1000')
      expect(before, verb).toMatchObject({ code: 1, stderr: saying('there was no workload one yet; it was submitted') })
      const never = await ask(verb, 'one', '--at', '2999-01-01T00:00:00Z')
      expect(never).toMatchObject({ code: 2, stderr: saying('nothing is known of 2999-01-01 00:00:00 UTC yet') })
    }
    const later = await ask('queue', '--at', '2999-01-01')
    expect(later.stderr.replaceAll(/\s+/g, ' ')).toMatch(/give at most \d{4}-\d\d-\d\dT[\d:.]+Z, or leave it out/)
  })

  it('should tell what became of one that was refused, and how much the fleet has in all', async () => {
    const { ask, submit } = await system(tree)
    await submit('wide', 40)
    expect(await ask('why', 'wide')).toMatchObject({ stdout: saying('has 8 GPUs in one place; of 8 GPUs in all.') })
    for (const words of [
      ['prio', 'wide'],
      ['queue', '--position', 'wide'],
    ])
      expect(await ask(...words)).toMatchObject({ code: 1, stderr: saying('wide refused') })
  })

  it('should mend by what was meant, and say the order of the queue where no levels are compared', async () => {
    const { ask, submit } = await system(tree)
    await submit('stray', 1, 'defalt')
    expect(await ask('prio', 'stray')).toMatchObject({
      code: 3,
      stderr: saying('stray stands in no order: the policy has no queue defalt; did you mean default?'),
    })
    const queues = await system(plain)
    await queues.submit('first', 8)
    await queues.submit('second', 8)
    await queues.submit('third', 8)
    await queues.tick(Date.now() + 1_000)
    const asked = await queues.ask('prio', 'third')
    expect(asked).toMatchObject({ code: 0, stdout: saying('queue default: the older first, whatever the class') })
    expect(asked).toMatchObject({ stdout: saying('position 2, behind second') })
    expect((await queues.ask('queue', '--position', 'second')).code).toBe(0)
  })
})

it('should say for each of several policies why jobs never started', async () => {
  const folder = folderFor()
  const [jobs, one, other] = ['jobs.csv', 'one.yaml', 'other.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(jobs, 'id,submit,duration,gpus,queue\na,0,60,8,paid\nb,0,60,8,free\n')
  writeFileSync(one, 'metadata: { name: one }\nspec: { queues: [{ name: paid }] }\n')
  writeFileSync(other, 'metadata: { name: other }\nspec: { queues: [{ name: paid }, { name: free }] }\n')
  const { stderr } = await run(['simulate', jobs, '--nodes', '1', '--policy', one, '--policy', other])
  expect(stderr).toMatch(/^one: 1 job never started and is in no figure of waits: Misconfigured 1\.$/m)
  expect(stderr).not.toMatch(/^other:/m)
})

it('should say what is not checked of a policy without a fleet, and what gives it one', async () => {
  const folder = folderFor()
  const file = join(folder, 'policy.yaml')
  const metadata = 'metadata: { name: p, owner: Ann, reviewDate: 2999-01-01, impactHypothesis: Shorter waits. }\n'
  writeFileSync(file, `${metadata}spec: { queues: [{ name: default }] }\n`)
  const { stderr, stdout } = await run(['policy', 'check', file, '--data', join(folder, 'data')])
  expect(stdout).toContain('nothing to warn of that needs no fleet')
  expect({ stderr }).toMatchObject({ stderr: saying('shares below one device') })
  expect({ stderr }).toMatchObject({ stderr: saying('give --nodes N or --node-list FILE') })
  const known = await run(['policy', 'check', file, '--nodes', '1', '--data', join(folder, 'data')])
  expect(known.stdout).toMatch(/valid, nothing to warn of\n$/)
  expect(known.stderr).toBe('')
})
