import { expect, it } from 'vitest'
import { scoped } from '../../../support/scope.ts'
import { RandomLife } from './random-life.ts'
import { WatchedCell } from './watched-cell.ts'

const lives = scoped(60, 300)

it.each([true, false])(
  'should keep what always holds, whatever happens (automated: %s)',
  { timeout: 600_000 },
  (automated) => {
    const sums = { admitted: 0, evicted: 0, held: 0, kept: 0, shrunk: 0, released: 0 }
    const failures: string[] = []
    for (let seed = 0; seed < lives; seed++) {
      const watched = new WatchedCell()
      try {
        new RandomLife(watched, seed, automated).live(40)
      } catch (error) {
        failures.push(`seed ${seed}: ${(error as Error).stack?.slice(0, 1500) ?? ''}`)
      }
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += watched.counts[key]
    }
    expect(failures.slice(0, 6).join('\n\n')).toBe('')
    const { released, ...always } = sums
    expect(Math.min(...Object.values(always), automated ? released : Infinity)).toBeGreaterThan(lives / 10)
  },
)
