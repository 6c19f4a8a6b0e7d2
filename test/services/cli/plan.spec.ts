import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-plan-'))
const data = join(folder, 'data')
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

// One node of 8 GPUs: `wide` has 6 of them from 10 to 110, `held` of 4 waits from 20 on.
beforeAll(async () => {
  const jobs = join(folder, 'jobs.csv')
  writeFileSync(jobs, 'id,submit,duration,gpus\nwide,10,100,6\nheld,20,50,4\n')
  const words = ['simulate', jobs, '--nodes', '1', '--gpus-per-node', '8', '--data', data]
  expect((await run(words)).code).toBe(0)
})

const planned = async (spec: string, ...more: ReadonlyArray<string>) => {
  const file = join(folder, 'intent.yaml')
  writeFileSync(file, `metadata: { name: mine }\nspec: ${spec}\n`)
  return run(['plan', file, '--at', '30s', '--data', data, ...more])
}

describe('plan', () => {
  it('should say where it would start, and when it would end', async () => {
    const { code, stdout } = await planned('{ preferred: { count: 1, share: 250 }, expectedDuration: 1m }')
    expect(code).toBe(0)
    expect(stdout).toBe(
      'mine would start at once. It would end day 0 00:01:30.\n  on node-0000: device 6, 250 thousandths of it\n',
    )
  })

  it('should say why it would wait, behind whom, and until when', async () => {
    const { code, stdout } = await planned('{ preferred: { count: 8 } }')
    expect(code).toBe(0)
    expect(stdout).toMatch(/mine would wait in queue default, position 2: WaitingForCapacity/)
    expect(stdout).toMatch(/projected start: day 0 00:02:40 \(in 2 min 10 s\)/)
  })

  it('should refuse what the fleet could never run, and nobody is the wiser', async () => {
    const { code, stdout } = await planned('{ preferred: { count: 9 } }')
    expect(code).toBe(3)
    expect(stdout).toMatch(/mine would be refused: ExceedsFleet/)
    expect((await run(['log', 'mine', '--data', data])).code).toBe(1)
  })

  it('should say what it does not decide by yet, and which deadline it misses', async () => {
    const { stdout } = await planned(
      '{ preferred: { count: 8 }, substitutable: [{ accelerator: a100, count: 4 }], deadline: "1970-01-01T00:01:00Z" }',
    )
    expect(stdout).toMatch(/recorded, and not decided by yet: substitutable, deadline\n/)
    expect(stdout).toMatch(/too late for its deadline day 0 00:01:00, by 1 min 40 s\n/)
  })

  it('should give the same as JSON, and say that each of several is planned alone', async () => {
    const both = join(folder, 'both.yaml')
    writeFileSync(
      both,
      '- { metadata: { name: a }, spec: { preferred: { count: 2 } } }\n- { metadata: { name: b }, spec: { preferred: { count: 2 } } }\n',
    )
    const { stdout, stderr } = await run(['plan', both, '--at', '30s', '--data', data, '-o', 'json'])
    expect(JSON.parse(stdout)).toMatchObject([
      { workload: 'a', outcome: 'starts', startAt: 30_000, notes: [] },
      { workload: 'b', outcome: 'starts', startAt: 30_000 },
    ])
    expect(stderr).toBe('Each is planned as if the others were not there.\n')
  })
})
