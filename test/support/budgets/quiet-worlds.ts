import { expect } from 'vitest'
import { Draw } from './draw.ts'
import { QuietWorld } from './quiet-world.ts'

/** How many small cells of any state and past are searched; the whole search is 100,000. */
export const quietWorldsMax = Number(process.env['LEASEHOLD_QUIET_WORLDS'] ?? 100_000)

/** Lets each live on by itself. What breaks is told with its seed, which makes the same cell again. */
export const searchQuietWorlds = (from: number, to: number): void => {
  const sums = { ticks: 0, evictions: 0, repeats: 0 }
  const failures: string[] = []
  for (let seed = from; seed < to && failures.length < 20; seed++) {
    try {
      const world = new QuietWorld(new Draw(seed))
      world.run()
      for (const key of ['ticks', 'evictions', 'repeats'] as const) sums[key] += world.counts[key]
    } catch (error) {
      failures.push(`seed ${seed}: ${(error as Error).message}`)
    }
  }
  expect(failures.join('\n')).toBe('')
  // Else nothing was searched.
  expect(sums.evictions).toBeGreaterThan((to - from) / 3)
  expect(sums.repeats).toBeGreaterThan((to - from) / 20)
}
