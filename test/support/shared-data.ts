import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'

/** The public traces lie beside the checkout: they are not ours to commit. */
const folder = join(import.meta.dirname, '../../../shared/data')

export const sharedData = (path: string): string => join(folder, path)

/** Runs a suite on the real traces. Where they are absent it is skipped, and says so; under CI that is a failure. */
export const describeOnData = (name: string, suite: () => void): void => {
  if (existsSync(folder)) {
    describe(name, suite)
    return
  }
  if (process.env['CI'] !== undefined) throw new Error(`${name}: there are no traces in ${folder}`)
  describe.skip(`${name}: there are no traces in ../shared/data`, suite)
}
