import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folderOf = tempFolder()
const write = (name: string, text: string): string => {
  const file = join(folderOf(), name)
  writeFileSync(file, text)
  return file
}
const simulated = async (...words: ReadonlyArray<string>) =>
  JSON.parse((await run(['simulate', ...words, '-o', 'json'])).stdout) as { readonly [figure: string]: unknown }

/** One GPU, three jobs of an hour that come half an hour apart. */
const small = `
kind: Scenario
metadata: { name: small }
spec:
  fleet: [{ gpus: 1 }]
  jobs: [{ name: job, count: 3, every: 30m, run: 1h, gpus: 1, queue: lab }]
`

describe('simulate with a scenario', () => {
  it('should run its jobs on its fleet, in compressed time', async () => {
    const figures = await simulated(write('small.yaml', small))
    // They wait for 0, 30 and 60 minutes.
    expect(figures).toMatchObject({ jobs: 3, sumWaitS: 5_400, maxWaitJob: 'job-3', lastEndS: 10_800, util: 1 })
    expect((await simulated(write('small.yml', small), '--nodes', '3', '--gpus-per-node', '1'))['sumWaitS']).toBe(0)
  })
  it('should run to the same bytes as the same jobs of a trace', async () => {
    const csv = 'id,at,run,gpus,queue\n' + [0, 1, 2].map((i) => `job-${i + 1},${i * 1_800},3600,1,lab\n`).join('')
    const table = write('small.csv', csv)
    const map = 'id=id,submit=at,duration=run,gpus=gpus,queue=queue,team=queue'
    const ofTrace = await simulated(table, '--map', map, '--nodes', '1', '--gpus-per-node', '1')
    expect((await simulated(write('small.yaml', small)))['logDigest']).toBe(ofTrace['logDigest'])
  })
  it('should set policies side by side on the example', async () => {
    const policy = (name: string) => ['--policy', resolve('docs/examples', name)]
    const file = resolve('docs/examples/two-days.yaml')
    const { stdout } = await run([
      'simulate',
      file,
      ...policy('policies/two-programs.yaml'),
      ...policy('first-come.yaml'),
    ])
    expect(stdout).toContain('TWO-PROGRAMS')
    const figures = await simulated(file, ...policy('policies/two-programs.yaml'))
    expect(figures).toMatchObject({ jobs: 52, neverStarted: 0, onePerson: null, misconfigured: 0 })
    expect(figures['evictions']).toBeGreaterThan(0)
  })
  it('should say every fault with its line and column', async () => {
    const faulty = small.replace('run: 1h', 'run: 1 hour').replace('gpus: 1, queue', 'gpu: 1, queue')
    const { code, stderr, stdout } = await run(['simulate', write('faulty.yaml', faulty)])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/faulty\.yaml:6:\d+/)
    expect(stderr).toContain('spec.jobs[0].run')
    expect(stderr).toContain('did you mean gpus?')
    const flags = await run(['simulate', write('small.yaml', small), '--map', 'id=x', '--gpus-per-node', '2'])
    expect(flags.code).toBe(2)
    for (const flag of ['--map', '--gpus-per-node']) expect(flags.stderr).toContain(flag)
  })
})
