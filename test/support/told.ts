import { expect } from 'vitest'
import { run, type Ran } from '../services/cli/terminal.ts'

/** One error for a person: it names what is wrong and what mends it, and nothing of our insides. */
export const expectOneError = ({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): void => {
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^error: .+\n( {2}.+\n)*$/)
  expect(stderr.match(/^error: /gm)).toHaveLength(1)
  // A place, and behind it the mend.
  expect(stderr).toMatch(/: .+[;,] .+/)
  expect(stderr).not.toMatch(/unexpected|stack|node:internal|\.[jt]s:\d|^ {4}at /m)
  expect(stderr).not.toMatch(/[^\P{Cc}\n]/u)
  expect(stderr.length).toBeLessThan(12_000)
}

export const expectIntact = async (data: string, events: number): Promise<void> => {
  const { code, stdout } = await run(['audit', 'verify', '--data', data])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^ok: ${events} events`)) as unknown,
  })
}
export const eventsIn = async (data: string): Promise<number> =>
  (JSON.parse((await run(['audit', 'head', '-o', 'json', '--data', data])).stdout) as { size: number }).size
