import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-demo-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
const around = { workingDirectory: folder, environment: { LEASEHOLD_DATA: join(folder, 'demo') } }

it('should compare policies, explain a waiting job, verify itself and say what to try next', async () => {
  const { code, stdout } = await run(['demo'], around)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^fifo +first-fit +454 /m)
  expect(stdout).toMatch(/^reserve +best-fit +34 /m)
  expect(stdout).toMatch(/Why did training-0423 wait\?/)
  expect(stdout).toMatch(/Reason +FragmentedCapacity: it needs 8 whole GPUs/)
  expect(stdout).toMatch(/It started day 0 22:33:30 \(1 h 4 min later than projected then\)\./)
  expect(stdout).toMatch(/All 2931 decisions, decided again from their inputs, came out the same\./)
  for (const line of stdout.split('\n'))
    if (!line.includes('--head')) expect(line.length, line).toBeLessThanOrEqual(100)
})

it('should suggest only commands that work', async () => {
  const { stdout } = await run(['demo'], around)
  const suggested = stdout.split('\n').flatMap((line) => /^ {2}npx leasehold (.*)$/.exec(line)?.[1] ?? [])
  expect(suggested.length).toBeGreaterThan(4)
  for (const command of suggested) {
    const { code, stdout: printed } = await run(command.split(' '), around)
    expect(code, command).toBe(0)
    expect(printed, command).not.toBe('')
  }
})

it('should run again on what it left, and give its figures as JSON', async () => {
  const { code, stdout } = await run(['demo', '-o', 'json'], around)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ replayed: true, decisions: 2931, ways: [{ waiting: 454 }, {}, {}] })
  expect(readdirSync(join(folder, 'demo'))).toContain('log.sqlite')
})
