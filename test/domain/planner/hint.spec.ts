import fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import { askingFor, hintsOf, startsNow } from '../../../domain/planner/hint.ts'
import { budgetPolicy, CellLife, hour, minutes } from '../../support/cell-life.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'

interface Drawn {
  readonly devices: number
  readonly budget: string
  readonly model: string | null
  readonly hours: number
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  devices: fc.integer({ min: 1, max: 8 }),
  budget: fc.constantFrom('a', 'b'),
  model: fc.constantFrom(null, 'h100', 'a100'),
  hours: fc.integer({ min: 1, max: 20 }),
})

const cellOf = (jobs: ReadonlyArray<Drawn>): CellLife => {
  const life = new CellLife(hour)
    .policy(budgetPolicy({ a: 1, b: 2 }))
    .nodes(1, 8, 'h100')
    .nodes(1, 4, 'a100')
    .drilled('a', 'b')
  jobs.forEach(({ budget, devices, hours, model }, i) => {
    const request = requestOf({ devices, models: model === null ? null : [model], span: 'node' })
    life.submit(`job-${i}`, devices, { budget, request, estimateMs: minutes(60 * hours) })
    if (i % 3 === 2) life.tick()
  })
  life.tick()
  return life
}

it('should give no hint that the planner does not follow by a start', () => {
  const given = { 'fewer-devices': 0, 'any-accelerator': 0, ends: 0 }
  fc.assert(
    fc.property(fc.array(drawn, { minLength: 4, maxLength: 14 }), (jobs) => {
      const { cell } = cellOf(jobs)
      for (const workload of cell.workloads.values())
        for (const hint of hintsOf(cell, workload)) {
          given[hint.change]++
          const life = cellOf(jobs)
          const snapshot = takeSnapshot(life.cell)
          const changed =
            hint.change === 'fewer-devices'
              ? askingFor(snapshot, workload.id, { devices: hint.devices })
              : hint.change === 'any-accelerator'
                ? askingFor(snapshot, workload.id, { models: null })
                : life.cell
          if (hint.change === 'ends')
            for (const [i, id] of hint.workloads.entries()) {
              life.end(id)
              if (i < hint.workloads.length - 1) life.tell({ type: 'Ticked', at: life.now as never, data: {} })
            }
          const lease = startsNow(changed, workload.id)
          expect(lease?.map(({ node }) => node)).toEqual(hint.nodes)
        }
    }),
    { numRuns: 60 },
  )
  for (const [change, count] of Object.entries(given)) expect(count, change).toBeGreaterThan(0)
})

it('should leave the cell as it was', () => {
  const { cell } = cellOf([8, 4, 8, 2].map((devices) => ({ budget: 'a', devices, hours: 2, model: null })))
  const before = JSON.stringify(takeSnapshot(cell))
  for (const workload of cell.workloads.values()) hintsOf(cell, workload)
  expect(JSON.stringify(takeSnapshot(cell))).toBe(before)
})
