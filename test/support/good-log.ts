import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { run, type Ran } from '../services/cli/terminal.ts'
import { smallTrace } from './small-trace.ts'

/** A folder of this file's tests with a small trace and a log of it, which each test copies before it does harm. */
export const goodLog = () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  const good = join(folder, 'good')
  const trace = join(folder, 'trace.csv')
  const leasehold = (...words: ReadonlyArray<string>): Promise<Ran> => run(words, { workingDirectory: folder })
  beforeAll(async () => {
    writeFileSync(trace, smallTrace)
    expect((await leasehold('simulate', trace, '--nodes', '1', '--data', good)).code).toBe(0)
  })
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    good,
    trace,
    leasehold,
    inFolder: (name: string, text: string): string => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
    copyOf: (name: string): string => {
      const copy = join(folder, name)
      cpSync(good, copy, { recursive: true })
      return copy
    },
  }
}
