import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fork, takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import type { Cell } from '../../../domain/planner/cell.ts'
import { inputsOf, nodesOf, type Hint } from '../../../domain/planner/hint.ts'
import { hintsOf } from '../../../domain/planner/hints.ts'
import { Trial, usualEffort, WhatIf } from '../../../domain/planner/what-if.ts'
import type { Workload } from '../../../domain/planner/workload.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { AcceleratorQuota } from '../../../domain/policy/quota-policy.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../support/cell-life.ts'
import { policyWithQueues } from '../../support/budget-policy.ts'

interface Drawn {
  readonly devices: number
  readonly milli: number
  readonly memoryMib: number
  readonly cpuMilli: number
  readonly hostMemoryMib: number
  readonly budget: string
  readonly submitter: string
  readonly queue: string
  readonly model: string | null
  readonly hours: number | null
  readonly tolerated: boolean
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  devices: fc.constantFrom(1, 1, 1, 2, 3, 4, 6, 8),
  milli: fc.constantFrom(1000, 1000, 1000, 1000, 600, 250),
  memoryMib: fc.constantFrom(0, 0, 0, 0, 20, 40, 60),
  cpuMilli: fc.constantFrom(0, 0, 0, 6000),
  hostMemoryMib: fc.constantFrom(0, 0, 0, 80),
  budget: fc.constantFrom('a', 'b'),
  submitter: fc.constantFrom('ann', 'bob'),
  queue: fc.constantFrom('default', 'other'),
  model: fc.constantFrom(null, null, 'h100', 'a100'),
  hours: fc.constantFrom(null, 1, 2, 5, 20),
  tolerated: fc.constantFrom(true, true, true, false),
})

const quotasOf = (h100: number, a100: number): ReadonlyArray<AcceleratorQuota> => [
  { accelerator: 'h100', devices: { borrowing: 1000, lending: null, nominal: h100 * 1000 } },
  { accelerator: 'a100', devices: { borrowing: null, lending: null, nominal: a100 * 1000 } },
]
const limited: Partial<AllocationPolicy> = {
  cohorts: [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }],
  queues: [
    { cohort: 'all', name: 'default', ordering: 'greedy', quotas: quotasOf(4, 2) },
    { cohort: 'all', name: 'other', ordering: 'fifo', quotas: quotasOf(3, 1) },
  ],
}
const ordered: Partial<AllocationPolicy> = {
  queues: [
    { name: 'default', ordering: 'reserve' },
    { name: 'other', ordering: 'greedy' },
  ],
}
const capped: Partial<AllocationPolicy> = {
  ...ordered,
  caps: { perPersonMilli: 6000, perTeamMilli: 7000, teams: { b: 3000 } },
}
const tree = { a: 1, b: 2 }
const unshared = policyWithQueues(ordered)
const kinds: { readonly [kind: string]: AllocationPolicy } = {
  budgets: budgetPolicy(tree, ordered),
  'budgets with caps': budgetPolicy(tree, capped),
  'budgets with quota': budgetPolicy(tree, limited),
  'fair-tree': budgetPolicy(tree, { ...capped, sharing: 'fair-tree' }),
  drf: budgetPolicy(tree, { ...ordered, sharing: 'drf' }),
  kueue: { ...unshared, ...limited, sharing: 'kueue' },
  queues: unshared,
}

const cellOf = (jobs: ReadonlyArray<Drawn>, policy: AllocationPolicy, drilled: ReadonlyArray<string>): CellLife => {
  const life = new CellLife(hour).policy(policy)
  for (const [node, model] of ['h100', 'a100', 'a100'].entries())
    life.tell({
      type: 'NodeRegistered',
      at: life.cell.now,
      data: {
        cpuMilli: 8000,
        deviceMemoryMib: model === 'h100' ? 80 : 40,
        devices: model === 'h100' ? 6 : 2,
        domain: null,
        hostMemoryMib: 100,
        model,
        node: `node-${node}`,
      },
    })
  life.drilled(...drilled)
  jobs.forEach(({ budget, devices, hours, milli, model, queue, submitter, tolerated, ...needs }, i) => {
    const request = requestOf({
      ...needs,
      devices,
      milli,
      models: model === null ? null : [model],
      span: 'node',
    } as never)
    const estimateMs = hours === null ? null : minutes(60 * hours)
    life.submit(`job-${i}`, devices, {
      budget,
      estimateMs,
      preemption: { tolerated },
      queue,
      request,
      terms: { submitter },
    })
    if (i % 3 !== 2) return
    life.at(life.now + 7 * minute).tick()
  })
  life.tick()
  return life
}

/** Where the planner of the whole cell starts it, once the hint is followed. */
const followed = (cell: Cell, id: string, hint: Hint): ReadonlyArray<string> | null => {
  const whole = new Trial(fork(cell), id, new Set())
  expect(whole.tell(...inputsOf(cell, cell.workloads.get(id)!, hint)), JSON.stringify(hint)).toBe(true)
  const lease = whole.starts()
  return lease === null ? null : nodesOf(lease)
}

const ways: { readonly [way: string]: (cell: Cell, workload: Workload) => WhatIf } = {
  'by copies': (cell, workload) => new WhatIf(cell, workload),
  'by copies of the first of each line': (cell, workload) =>
    new WhatIf(cell, workload, { ...usualEffort, perLineMax: 1 }),
  'by as few copies as can be': (cell, workload) => new WhatIf(cell, workload, { ...usualEffort, copiedMax: 0 }),
}

const jobs = fc.array(drawn, { minLength: 6, maxLength: 18 })
/** Rarely drawn: what waits for a place that is kept; and who is first of its like, where the next of them is in its way. */
const plain = { budget: 'a', cpuMilli: 0, hostMemoryMib: 0, memoryMib: 0, milli: 1000, model: 'h100' } as const
const keeping = [
  { devices: 4, hours: 2 },
  { devices: 6, hours: 1 },
  { devices: 2, hours: 20 },
].map((one): Drawn => ({ ...plain, ...one, queue: 'default', submitter: 'ann', tolerated: true }))
const alike = [6, 1, 1, 1, 6, 1].map((devices): Drawn => {
  const queue = devices === 6 ? 'other' : 'default'
  const memoryMib = devices === 6 ? 20 : 0
  return { ...plain, devices, hours: null, memoryMib, model: null, queue, submitter: 'ann', tolerated: true }
})
const rarely: [Drawn[], ['a', 'b']][] = [
  [keeping, ['a', 'b']],
  [alike, ['a', 'b']],
]
const drills = fc.constantFrom(['a', 'b'], ['a', 'b'], ['a'])
const seen: { readonly [way: string]: Set<Hint['change']> } = Object.fromEntries(
  Object.keys(ways).map((way) => [way, new Set<Hint['change']>()]),
)

it.each(Object.entries(kinds))(
  'should give no hint under %s that the planner does not follow by a start',
  (_, policy) => {
    let given = 0
    fc.assert(
      fc.property(jobs, drills, (jobs, drilled) => {
        const { cell } = cellOf(jobs, policy, drilled)
        for (const workload of cell.workloads.values())
          for (const [way, whatIf] of Object.entries(ways))
            for (const hint of hintsOf(cell, workload, whatIf(cell, workload)).hints) {
              given++
              seen[way]!.add(hint.change)
              expect(followed(cell, workload.id, hint), JSON.stringify(hint)).toEqual(hint.nodes)
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

it('should leave the cell as it was', () => {
  fc.assert(
    fc.property(jobs, fc.constantFrom(...Object.values(kinds)), (jobs, policy) => {
      const { cell } = cellOf(jobs, policy, ['a'])
      const before = JSON.stringify(takeSnapshot(cell))
      for (const workload of cell.workloads.values())
        for (const whatIf of Object.values(ways)) hintsOf(cell, workload, whatIf(cell, workload))
      expect(JSON.stringify(takeSnapshot(cell))).toBe(before)
    }),
    { numRuns: 10 },
  )
})
