import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-policy-'))
const data = join(folder, 'data')
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const head = `metadata:
  name: shared
  owner: Ann
  reviewDate: 2999-12-31
  impactHypothesis: Waits fall.
spec:
`
const check = async (spec: string, ...more: ReadonlyArray<string>) => {
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, head + spec)
  return run(['policy', 'check', file, '--data', data, ...more])
}
const lend = `  cohorts: [{ name: all }]
  queues:
    - name: research
      cohort: all
      quotas:
        - { accelerator: h100, devices: { nominal: 12, lending: 0 } }
    - { name: product, cohort: all }
`

describe('policy check', () => {
  it('should say that a policy is valid, and what it could not hold it against', async () => {
    const { code, stderr, stdout } = await check('  mode: advise\n')
    expect([code, stdout]).toEqual([
      0,
      `${join(folder, 'policy.yaml')}: valid, nothing to warn of that needs no fleet\n`,
    ])
    expect(stderr).toMatch(/^Without a fleet nothing is said of /)
  })

  it('should name all faults where they stand, and end as invalid input', async () => {
    const { code, stdout } = await check('  mode: advised\n  queues:\n    - { name: a, cohort: nobody }\n')
    expect(code).toBe(2)
    const rows = stdout.split('\n')
    expect(rows[0]).toMatch(/^LINE {3}KIND {4}WHAT$/)
    expect(rows[1]).toMatch(/^ {3}7 {3}fault {3}spec\.mode: found the text "advised"$/)
    expect(rows[2]).toMatch(/^ +-> did you mean advise\?$/)
    expect(rows[3]).toMatch(/^ {3}9 {3}fault {3}spec\.queues\[0\]\.cohort: there is no cohort nobody$/)
    expect(stdout).toContain(
      `${join(folder, 'policy.yaml')}: not valid, 2 faults; warnings come once they are mended\n`,
    )
  })

  it('should warn of what will surprise, and only refuse it where that is asked for', async () => {
    const { code, stdout } = await check(lend, '--nodes', '1', '--gpus-per-node', '8')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      / {2}12 {3}warning {3}spec\.queues\[0\]\.quotas\[0\]\.devices\.lending: is 0: what it does not use/,
    )
    expect(stdout).toMatch(
      / {2}12 {3}warning {3}spec\.queues\[0\]\.quotas\[0\]\.devices\.nominal: nominals of quotas add/,
    )
    expect(stdout).toMatch(/valid, with 3 warnings\n$/)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
    expect((await check(lend, '--strict')).code).toBe(3)
    expect((await check('  mode: advise\n', '--strict')).code).toBe(0)
  })

  it('should fit a narrow terminal, and lose no word of what it says', async () => {
    const file = join(folder, 'policy.yaml')
    writeFileSync(file, head + lend)
    const { stdout } = await run(['policy', 'check', file, '--data', data], {
      columns: 60,
      environment: { NO_COLOR: '1' },
    })
    const lines = stdout.split('\n').slice(0, -2)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
    const whole = lines.join(' ').replace(/\s+/g, ' ')
    expect(whole).toContain('is 0: what it does not use stays idle while others wait')
  })

  it('should give the same to programs, with lines and columns', async () => {
    const { code, stdout } = await check(lend, '-o', 'json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toContainEqual({
      severity: 'warning',
      line: 12,
      column: 65,
      path: 'spec.queues[0].quotas[0].devices.lending',
      reason: 'is 0: what it does not use stays idle while others wait',
      mend: 'lend some of it; it comes back when the queue needs it',
    })
    expect((await check('  mode: advise\n', '-o', 'json')).stdout).toBe('[]\n')
    const csv = await check('  mode: no\n', '-o', 'csv')
    expect(csv.stdout).toMatch(/^severity,line,column,path,reason,mend\r\nfault,7,9,spec\.mode,/)
  })

  it('should hold it against a list of nodes, but not against two fleets', async () => {
    const list = join(folder, 'nodes.csv')
    writeFileSync(list, 'sn,cpu_milli,memory_mib,gpu,model\nn-1,64000,262144,8,A100\n')
    const { stdout } = await check(lend, '--node-list', list)
    expect(stdout).toContain('the fleet has no h100')
    const both = await check(lend, '--node-list', list, '--nodes', '2')
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--nodes: two fleets are given')])
    expect((await check(lend, '--gpus-per-node', '2')).code).toBe(2)
  })

  it('should print what its page shows', async () => {
    const page = readFileSync('docs/policy.md', 'utf8')
    const [, document = '', command = '', printed = ''] =
      /`quota\.yaml`[^`]*```yaml\n([^]*?)```\n\n```console\n\$ leasehold (.*)\n([^]*?)```/.exec(page) ?? []
    const file = join(folder, 'quota.yaml')
    writeFileSync(file, document)
    const { stdout } = await run([...command.replace('quota.yaml', file).split(' '), '--data', data])
    expect(stdout.replace(file, 'quota.yaml')).toBe(printed)
    expect(printed).toContain('warning')
  })

  it('should say which file it cannot read', async () => {
    const { code, stderr } = await run(['policy', 'check', join(folder, 'none.yaml'), '--data', data])
    expect([code, stderr]).toEqual([1, expect.stringContaining('none.yaml')])
  })
})

describe('policy check beside a log', () => {
  const kept = join(folder, 'kept')
  beforeAll(async () => {
    const jobs = join(folder, 'jobs.csv')
    writeFileSync(jobs, 'id,submit,duration,gpus\nwide,10,100,6\n')
    const words = ['simulate', jobs, '--nodes', '1', '--gpus-per-node', '8', '--data', kept]
    expect((await run(words)).code).toBe(0)
  })
  it('should hold it against the fleet of the log, and change nothing', async () => {
    const before = (await run(['audit', 'head', '--data', kept])).stdout
    const { stderr, stdout } = await check(lend, '--data', kept)
    expect(stdout).toContain('and the fleet has 8')
    expect(stderr).toBe('')
    expect((await run(['audit', 'head', '--data', kept])).stdout).toBe(before)
  })
})
