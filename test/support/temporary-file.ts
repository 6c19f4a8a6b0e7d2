import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that goes when the test ends. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** A file that goes when the test ends. */
export const temporaryFile = (content: string | Uint8Array, name = 'trace'): string => {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, content)
  return file
}
