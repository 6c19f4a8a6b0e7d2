import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'skipped-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

const suite = `
describe.skip('on the traces (none are there)', () => { it('should add up', () => {}); it('should too', () => {}) })
describe('the log', () => {
  it('should be full', ({ skip }) => skip('nothing can be mounted here'))
  it('should be read', () => {})
})
it.skip('sqlite: does not load', () => {})
`

const linesOf = (...more: ReadonlyArray<string>): ReadonlyArray<string> => {
  const reporter = `--reporter=${resolve('test/support/skipped-reporter.ts')}`
  const vitest = resolve('node_modules/vitest/vitest.mjs')
  const words = [vitest, 'run', '--root', root, '--globals', reporter, ...more]
  const { stderr, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: root })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

it('should be said with the reason, once for a suite, and not of a run of some tests only', () => {
  writeFileSync(join(root, 'some.spec.js'), suite)
  expect(linesOf()).toEqual([
    'skipped: some.spec.js > on the traces (none are there)',
    'skipped: some.spec.js > the log > should be full: nothing can be mounted here',
    'skipped: some.spec.js > sqlite: does not load',
  ])
  expect(linesOf('-t', 'be read')).toEqual([])
})
