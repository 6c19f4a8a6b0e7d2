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
  expect(stderr).toContain(`${onePerson}.\n2 jobs are Misconfigured: the queue leads to no budget; `)
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
