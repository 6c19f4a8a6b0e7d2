import fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import type { Cell } from '../../../domain/planner/cell.ts'
import type { Hint } from '../../../domain/planner/hint.ts'
import { hintsOf } from '../../../domain/planner/hints.ts'
import { usualEffort, WhatIf, type Effort } from '../../../domain/planner/what-if.ts'
import type { Workload } from '../../../domain/planner/workload.ts'
import {
  drawn,
  followed,
  hintedCell,
  joined,
  keptFrom,
  plainJob,
  sharings,
  type Drawn,
} from '../../support/hinted-cell.ts'

const ways: { readonly [way: string]: (cell: Cell, workload: Workload) => WhatIf } = {
  'by copies': (cell, workload) => new WhatIf(cell, workload),
  'by copies of the first of each line': (cell, workload) =>
    new WhatIf(cell, workload, { ...usualEffort, perLineMax: 1 }),
  'by as few copies as can be': (cell, workload) => new WhatIf(cell, workload, { ...usualEffort, workMax: 0 }),
}

const jobs = fc.array(drawn, { minLength: 6, maxLength: 18 })
/** Rarely drawn, too: who is first of its like, where the next of them is in its way. */
const alike = [6, 1, 1, 1, 6, 1].map((devices): Drawn => {
  const queue = devices === 6 ? 'other' : 'default'
  const memoryMib = devices === 6 ? 20 : 0
  return { ...plainJob, devices, hours: null, memoryMib, model: null, queue }
})
const rarely: [Drawn[], ['a', 'b']][] = [
  [[...keptFrom], ['a', 'b']],
  [alike, ['a', 'b']],
]
const drills = fc.constantFrom(['a', 'b'], ['a', 'b'], ['a'])
const seen: { readonly [way: string]: Set<Hint['change']> } = Object.fromEntries(
  Object.keys(ways).map((way) => [way, new Set<Hint['change']>()]),
)

it.each(Object.entries(sharings))(
  'should give no hint under %s that the planner does not follow by a start',
  (_, policy) => {
    let given = 0
    fc.assert(
      fc.property(jobs, drills, (jobs, drilled) => {
        const life = joined(hintedCell(policy, drilled), jobs)
        const { cell } = life
        for (const workload of cell.workloads.values())
          for (const [way, whatIf] of Object.entries(ways))
            for (const hint of hintsOf(cell, workload, whatIf(cell, workload)).hints) {
              given++
              seen[way]!.add(hint.change)
              expect(followed(life, workload.id, hint), JSON.stringify(hint)).toEqual(hint.nodes)
            }
      }),
      { examples: rarely, numRuns: 15 },
    )
    expect(given).toBeGreaterThan(0)
  },
)

it('should give hints of every kind', () => {
  const every: ReadonlyArray<Hint['change']> = [
    'accelerator',
    'ends',
    'fewer-cores',
    'fewer-devices',
    'less-host-memory',
    'less-memory',
    'limits',
    'preemptible',
    'shorter',
    'smaller-share',
  ]
  expect([...seen['by copies']!].sort()).toEqual(every)
})

it('should say that something was left out where trying it was too much work, and only there', () => {
  const { cell } = joined(hintedCell(sharings['budgets with caps']!, ['a', 'b']), alike)
  const waiting = [...cell.workloads.values()].filter(({ run }) => run === null)
  const helpWith = (effort: Partial<Effort>) =>
    waiting.map((workload) => hintsOf(cell, workload, new WhatIf(cell, workload, { ...usualEffort, ...effort })))
  expect(helpWith({}).map(({ isCut }) => isCut)).not.toContain(true)
  expect(helpWith({ workMax: 0 }).map(({ isCut }) => isCut)).toContain(true)
  expect(helpWith({ contendersMax: 2 })).toEqual(waiting.map(() => ({ hints: [], isCut: true })))
})

it('should leave the cell as it was', () => {
  fc.assert(
    fc.property(jobs, fc.constantFrom(...Object.values(sharings)), (jobs, policy) => {
      const { cell } = joined(hintedCell(policy, ['a']), jobs)
      const before = JSON.stringify(takeSnapshot(cell))
      for (const workload of cell.workloads.values())
        for (const whatIf of Object.values(ways)) hintsOf(cell, workload, whatIf(cell, workload))
      expect(JSON.stringify(takeSnapshot(cell))).toBe(before)
    }),
    { numRuns: 10 },
  )
})
