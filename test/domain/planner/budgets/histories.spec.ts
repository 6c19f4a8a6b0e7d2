import { expect, it } from 'vitest'
import { Draw } from '../../../support/budgets/draw.ts'
import { EventfulLife } from '../../../support/budgets/eventful-life.ts'
import { WatchedCell } from '../../../support/budgets/watched-cell.ts'
import { scoped } from '../../../support/scope.ts'

/** Histories in each mode. */
const lives = scoped(60, 400)

it.each(['automate', 'advise'] as const)(
  'should keep what always holds, whatever happens, where it may %s',
  (mode) => {
    const sums = { admitted: 0, decided: 0, evicted: 0, shrunk: 0, moved: 0, released: 0, returned: 0 }
    const failures: string[] = []
    for (let seed = 0; seed < lives && failures.length < 10; seed++) {
      const watched = new WatchedCell()
      try {
        new EventfulLife(watched, new Draw(seed), mode).live(40)
      } catch (error) {
        failures.push(`seed ${seed}: ${(error as Error).message}`)
      }
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += watched.invariants.counts[key]
    }
    expect(failures.join('\n')).toBe('')
    // Else nothing was searched.
    expect(Math.min(sums.admitted, sums.evicted, sums.moved)).toBeGreaterThan(lives / 3)
    expect(sums.returned).toBeGreaterThan(0)
    expect(sums.shrunk).toBeGreaterThan(lives / 40)
    if (mode === 'automate') expect(sums.released).toBeGreaterThan(lives / 10)
  },
  600_000,
)
