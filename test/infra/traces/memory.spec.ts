import { either as E } from 'fp-ts'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readTrace, traceFormats } from '../../../infra/traces/trace.ts'
import { temporaryFolder } from '../../support/temporary-file.ts'

/** In a file of its own: the most memory that this process ever had is then that of these tests and the test runner. */
it.each(traceFormats)('should read a line of 100 MB in little memory, as one fault: %s', async (format) => {
  const file = join(temporaryFolder(), 'long')
  const out = openSync(file, 'w')
  const block = Buffer.alloc(1 << 20, 'x')
  for (let i = 0; i < 100; i++) writeSync(out, block)
  closeSync(out)
  expect(await readTrace(file, { format })).toMatchObject(
    E.left({ type: 'FaultyFile', count: 1, faults: [{ line: 1, reason: 'is a line of more than 1048576 bytes' }] }),
  )
  expect(process.resourceUsage().maxRSS).toBeLessThan(300 * 1024)
})
