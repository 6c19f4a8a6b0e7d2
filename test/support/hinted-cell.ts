import fc from 'fast-check'
import { expect } from 'vitest'
import { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import { inputsOf, nodesOf, type Hint } from '../../domain/planner/hint.ts'
import { Trial } from '../../domain/planner/what-if.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { AcceleratorQuota } from '../../domain/policy/quota-policy.ts'
import { requestOf } from './arbitrary-fleet.ts'
import { policyWithQueues } from './budget-policy.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from './cell-life.ts'

/** A job of a small fleet that one may want otherwise in many ways. */
export interface Drawn {
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
export const drawn: fc.Arbitrary<Drawn> = fc.record({
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

export const plainJob = {
  budget: 'a',
  cpuMilli: 0,
  hostMemoryMib: 0,
  memoryMib: 0,
  milli: 1000,
  model: 'h100',
  queue: 'default',
  submitter: 'ann',
  tolerated: true,
} as const
/** Rarely drawn: the last waits for the sake of a place that is kept. */
export const keptFrom: ReadonlyArray<Drawn> = [
  { ...plainJob, devices: 4, hours: 2 },
  { ...plainJob, devices: 6, hours: 1 },
  { ...plainJob, devices: 2, hours: 20 },
]

const quotasOf = (h100: number, a100: number): ReadonlyArray<AcceleratorQuota> => [
  { accelerator: 'h100', devices: { borrowing: 1000, lending: null, nominal: h100 * 1000 } },
  { accelerator: 'a100', devices: { borrowing: null, lending: null, nominal: a100 * 1000 } },
]
/** What runs and waits beside, on devices that nobody else asks for. */
export interface Crowd {
  readonly running: number
  readonly waiting: number
}
const nobody: Crowd = { running: 0, waiting: 0 }
const crowdQueue = { name: 'crowd', ordering: 'greedy' } as const
const crowdQuota = [{ accelerator: 'b300', devices: { borrowing: null, lending: null, nominal: 1e9 } }]

const limited: Partial<AllocationPolicy> = {
  cohorts: [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }],
  queues: [
    { cohort: 'all', name: 'default', ordering: 'greedy', quotas: quotasOf(4, 2) },
    { cohort: 'all', name: 'other', ordering: 'fifo', quotas: quotasOf(3, 1) },
    { ...crowdQueue, quotas: crowdQuota },
  ],
}
const ordered: Partial<AllocationPolicy> = {
  queues: [{ name: 'default', ordering: 'reserve' }, { name: 'other', ordering: 'greedy' }, crowdQueue],
}
const capped: Partial<AllocationPolicy> = {
  ...ordered,
  caps: { perPersonMilli: 6000, perTeamMilli: 7000, teams: { b: 3000, crowd: 1e9 } },
}
const tree = { a: 1, b: 2, crowd: 1 }
const unshared = policyWithQueues(ordered)
const kueue: AllocationPolicy = { ...unshared, ...limited, sharing: 'kueue' }
/** One policy of each way to share, and of what binds beside. */
export const sharings: { readonly [sharing: string]: AllocationPolicy } = {
  budgets: budgetPolicy(tree, ordered),
  'budgets with caps': budgetPolicy(tree, capped),
  'budgets with quota': budgetPolicy(tree, limited),
  'fair-tree': budgetPolicy(tree, { ...capped, sharing: 'fair-tree' }),
  drf: budgetPolicy(tree, { ...ordered, sharing: 'drf' }),
  kueue,
  'kueue by fair shares': {
    ...kueue,
    kueue: { fairSharing: ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'], loops: 'safe' },
  },
  queues: unshared,
}

const nodeOf = (node: string, devices: number, model: string) => ({
  cpuMilli: 8000,
  deviceMemoryMib: model === 'h100' ? 80 : 40,
  devices,
  domain: null,
  hostMemoryMib: 100,
  model,
  node,
})

/** A fleet of ten devices, and those of the crowd, all of which it takes. */
export const hintedCell = (policy: AllocationPolicy, drilled: ReadonlyArray<string>, crowd = nobody): CellLife => {
  const life = new CellLife(hour).policy(policy)
  const nodes = ['h100', 'a100', 'a100'].map((model, i) => nodeOf(`node-${i}`, model === 'h100' ? 6 : 2, model))
  for (let left = crowd.running; left > 0; left -= 8) nodes.push(nodeOf(`crowd-${left}`, Math.min(8, left), 'b300'))
  for (const data of nodes) life.tell({ type: 'NodeRegistered', at: life.cell.now, data })
  life.drilled(...drilled, 'crowd')
  const join = (id: string, devices: number, person: number) =>
    life.submit(id, devices, {
      budget: 'crowd',
      queue: 'crowd',
      request: requestOf({ devices, models: ['b300'], span: 'node' }),
      terms: { submitter: `person-${person}` },
    })
  for (let i = 0; i < crowd.running; i++) join(`runs-${i}`, 1, i % 7)
  if (crowd.running > 0) life.tick()
  for (let i = 0; i < crowd.waiting; i++) join(`waits-${i}`, 1 + (i % 4), i % 7)
  return life
}

export const submitDrawn = (
  life: CellLife,
  id: string,
  { budget, devices, hours, milli, model, queue, submitter, tolerated, ...needs }: Drawn,
): void => {
  const models = model === null ? null : [model]
  life.submit(id, devices, {
    budget,
    estimateMs: hours === null ? null : minutes(60 * hours),
    preemption: { tolerated },
    queue,
    request: requestOf({ ...needs, devices, milli, models, span: 'node' } as never),
    terms: { submitter },
  })
}

/** Those jobs come, three at a time. */
export const joined = (life: CellLife, jobs: ReadonlyArray<Drawn>): CellLife => {
  jobs.forEach((job, i) => {
    submitDrawn(life, `job-${i}`, job)
    if (i % 3 === 2) life.at(life.now + 7 * minute).tick()
  })
  life.tick()
  return life
}

/** A cell that has folded all that this one was told, and decided. */
const fromLog = ({ cell, told }: CellLife): Cell => {
  const folded = new Cell(cell.name)
  for (const { input, decisions } of told) for (const event of [input, ...decisions]) evolve(folded, event)
  return folded
}

/** Where the planner starts it on what the log holds, once the hint is followed; null: it does not. */
export const followed = (life: CellLife, id: string, hint: Hint): ReadonlyArray<string> | null => {
  const cell = fromLog(life)
  const whole = new Trial(cell, id, new Set())
  expect(whole.tell(...inputsOf(cell, cell.workloads.get(id)!, hint)), JSON.stringify(hint)).toBe(true)
  const lease = whole.starts()
  return lease === null ? null : nodesOf(lease)
}
