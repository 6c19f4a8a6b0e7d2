import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hint } from '../../../domain/planner/hint.ts'
import { hintsOf } from '../../../domain/planner/hints.ts'
import type { CellLife } from '../../support/cell-life.ts'
import { drawn, followed, hintedCell, joined, keptFrom, sharings } from '../../support/hinted-cell.ts'

/** Of those that came last, and the first of the crowd. */
const asked = ({ cell }: CellLife) =>
  [...cell.workloads.values()].filter(({ id, run }) => run === null && /^(job-\d+|waits-\d)$/.test(id))

const jobs = fc.array(drawn, { minLength: 12, maxLength: 18 })
const seen = new Set<Hint['change']>()

it.each(Object.entries(sharings))(
  'should give no hint under %s that the planner does not follow by a start, where hundreds run',
  (_, policy) => {
    let given = 0
    fc.assert(
      fc.property(jobs, (jobs) => {
        const life = joined(hintedCell(policy, ['a'], { running: 600, waiting: 200 }), jobs)
        for (const workload of asked(life))
          for (const hint of hintsOf(life.cell, workload).hints) {
            given++
            seen.add(hint.change)
            expect(followed(life, workload.id, hint), JSON.stringify(hint)).toEqual(hint.nodes)
          }
      }),
      { examples: [[[...keptFrom]]], numRuns: 3, seed: 24 },
    )
    expect(given).toBeGreaterThan(0)
  },
)

it('should give hints there of the kinds that need more than another request', () => {
  for (const change of ['ends', 'limits', 'shorter'] as const) expect(seen).toContain(change)
})

it.each(Object.entries(sharings))('should give the same hints under %s where 50,000 wait', (_, policy) => {
  const [drawn] = fc.sample(jobs, { numRuns: 1, seed: 3 })
  const hintsWhere = (waiting: number) => {
    const life = joined(hintedCell(policy, ['a'], { running: 600, waiting }), drawn!)
    const hints = asked(life).flatMap((workload) =>
      hintsOf(life.cell, workload).hints.map((hint) => ({ hint, id: workload.id })),
    )
    return { hints, life }
  }
  const { hints, life } = hintsWhere(50_000)
  const { hint, id } = hints.find(({ hint }) => hint.change === 'ends')!
  expect(followed(life, id, hint)).toEqual(hint.nodes)
  expect(hints).toEqual(hintsWhere(600).hints)
})
