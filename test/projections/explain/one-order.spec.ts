import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { defaultClass } from '../../../domain/policy/budget-policy.ts'
import { positionOf } from '../../../projections/explain/position.ts'
import { prioOf } from '../../../projections/explain/prio.ts'
import { queueOf, type QueueAnswer } from '../../../projections/explain/queue.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../support/cell-life.ts'
import { policyWithQueues } from '../../support/budget-policy.ts'

interface Drawn {
  readonly devices: number
  readonly budget: string
  readonly submitter: string
  readonly queue: string
  readonly class: string
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  devices: fc.constantFrom(1, 1, 2, 4),
  budget: fc.constantFrom('a', 'b', 'c', 'nowhere'),
  submitter: fc.constantFrom('ann', 'bob'),
  queue: fc.constantFrom('default', 'other', 'unknown'),
  class: fc.constantFrom('training', 'debug'),
})

const classes = [
  { ...defaultClass('training'), agingMs: minutes(60) },
  { ...defaultClass('debug'), priority: 1 },
]
const queues: AllocationPolicy['queues'] = [
  { name: 'default', ordering: 'greedy' },
  { name: 'other', ordering: 'greedy' },
]
const tree = { a: 1, b: 2, c: 3 }
const quotas = [{ accelerator: 'x', devices: { borrowing: null, lending: null, nominal: 2000 } }]
const sharings: { readonly [sharing: string]: AllocationPolicy } = {
  budgets: budgetPolicy(tree, { classes, queues }),
  'fair-tree': budgetPolicy(tree, { classes, queues, sharing: 'fair-tree' }),
  drf: budgetPolicy(tree, { classes, queues, sharing: 'drf' }),
  kueue: policyWithQueues({
    classes,
    cohorts: [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }],
    queues: queues.map((queue) => ({ ...queue, cohort: 'all', quotas })),
    sharing: 'kueue',
  }),
  queues: policyWithQueues({ classes, queues }),
}

/** Some hours of it, in which it fills up, and what runs ends one after another. */
const cellOf = (jobs: ReadonlyArray<Drawn>, policy: AllocationPolicy): CellLife => {
  const life = new CellLife(hour).policy(policy).nodes(1, 4, 'x').drilled('a', 'b', 'c')
  jobs.forEach(({ devices, submitter, ...where }, i) => {
    life.submit(`job-${i}`, devices, { ...where, team: where.budget, terms: { submitter } })
    if (i % 3 !== 2) return
    life.at(life.now + 25 * minute).tick()
    if (i % 6 === 5 && life.running.length > 0) life.end(life.running[0]!).tick()
  })
  life.tick()
  return life
}

const rowsOf = (answer: QueueAnswer | null) => answer!.rows

const jobs = fc.array(drawn, { minLength: 8, maxLength: 24 })

it.each(Object.entries(sharings))('should say one position of each by %s, whoever is asked', (_, policy) => {
  let positions = 0
  fc.assert(
    fc.property(jobs, (jobs) => {
      const { cell } = cellOf(jobs, policy)
      const rows = rowsOf(queueOf(cell, null, 0))
      expect(rows).toHaveLength([...cell.workloads.values()].filter(({ run }) => run === null).length)
      for (const { position, workload } of rows) {
        const why = whyOf(cell, workload)
        if (why?.state !== 'waiting') throw new Error(`${workload} waits`)
        const told = positionOf(cell, workload, 100)
        if (position === null) {
          expect([why.code, told]).toEqual(['Misconfigured', 'misconfigured'])
          continue
        }
        positions++
        expect(why.position, workload).toBe(position)
        if (told === null || typeof told === 'string') throw new Error(`${workload} has a position`)
        expect(told.position).toBe(position)
        const prio = prioOf(cell, workload)
        if (prio === null || typeof prio === 'string') throw new Error(`${workload} has its turn`)
        expect(prio.leaf.position).toBe(position)
        // Those ahead are listed ahead of it, at the same place.
        const names = rows.map((row) => row.workload)
        expect(told.ahead.map((one) => rows.find((row) => row.workload === one.workload)!.position)).toEqual(
          told.ahead.map((one) => one.position),
        )
        for (const one of told.ahead) expect(names.indexOf(one.workload)).toBeLessThan(names.indexOf(workload))
      }
    }),
    { numRuns: 30 },
  )
  expect(positions).toBeGreaterThan(0)
})

it.each(['budgets', 'fair-tree', 'drf'])('should list by %s in the order in which prio ranks', (sharing) => {
  fc.assert(
    fc.property(jobs, (jobs) => {
      const { cell } = cellOf(jobs, sharings[sharing]!)
      const rows = rowsOf(queueOf(cell, null, 0)).filter(({ position }) => position !== null)
      for (const { workload } of rows) {
        const prio = prioOf(cell, workload)
        if (prio === null || typeof prio === 'string') throw new Error(`${workload} has its turn`)
        for (const { parent, siblings, by } of prio.levels) {
          // What is free may be owed to somebody once the first have started.
          if (by === 'yield-credit') continue
          const below = (node: string) =>
            rows.findIndex(({ budget }) => budget === node || budget!.startsWith(`${node}/`))
          const ranked = siblings.filter(({ rank }) => rank !== null).map(({ node }) => node)
          expect(ranked, parent).toEqual(ranked.toSorted((a, b) => below(a) - below(b)))
        }
      }
    }),
    { numRuns: 30 },
  )
})

it.each(Object.entries(sharings))('should start next by %s who is first, all being alike', (_, policy) => {
  let starts = 0
  fc.assert(
    fc.property(jobs, (jobs) => {
      const life = cellOf(
        jobs.map((job) => ({ ...job, devices: 1 })),
        policy,
      )
      const [running] = life.running
      if (running === undefined) return
      life.at(life.now + 90 * minute).end(running)
      life.cell.now = life.now as typeof life.cell.now
      const [first] = rowsOf(queueOf(life.cell, null, 1))
      const positions = new Map(rowsOf(queueOf(life.cell, null, 0)).map((row) => [row.workload, row.position]))
      const admitted = life.tick().find(({ type }) => type === 'WorkloadAdmitted')
      if (admitted?.type !== 'WorkloadAdmitted') return
      starts++
      expect(positions.get(admitted.data.workload)).toBe(1)
      // Which queue of a cohort is next depends on what each borrows.
      if (life.cell.kueue === null) expect(admitted.data.workload).toBe(first!.workload)
    }),
    { numRuns: 40 },
  )
  expect(starts).toBeGreaterThan(0)
})

it.each([
  [59, 'urgent'],
  [60, 'patient'],
])('should say by kueue, when one has waited %i minutes, that %s starts next', (waited, next) => {
  const life = new CellLife(hour).policy(sharings.kueue!).nodes(1, 1, 'x')
  life.submit('running', 1).tick()
  life.submit('patient', 1).submit('urgent', 1, { class: 'debug' })
  life.at(life.now + waited * minute).end('running')
  life.cell.now = life.now as typeof life.cell.now
  expect(rowsOf(queueOf(life.cell, null, 0)).map(({ workload }) => workload)[0]).toBe(next)
  expect(positionOf(life.cell, next, 0)).toMatchObject({ position: 1 })
  life.tick()
  expect(life.running).toEqual([next])
})
