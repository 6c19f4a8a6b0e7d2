import type { DurationMs } from '../../../domain/kernel/units.ts'
import type { NodeRegistered, WorkloadSubmitted } from '../../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import {
  defaultBudget,
  defaultClass,
  type BudgetNodePolicy,
  type ClassPolicy,
} from '../../../domain/policy/budget-policy.ts'
import { defaultContract, defaultLimits } from '../../../domain/policy/contract-policy.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { requestOf } from '../arbitrary-fleet.ts'
import { leafNode } from '../budget-policy.ts'
import { hour, minute } from '../cell-life.ts'
import type { Draw } from './draw.ts'

const ms = (time: number): DurationMs => time as DurationMs

/** One to four programs, some with projects. */
export const anyTree = (draw: Draw, capped: boolean): ReadonlyArray<BudgetNodePolicy> => {
  const tree = ['a', 'b', 'c', 'd'].slice(0, draw.from(1, 2, 2, 3, 3, 4)).map((name) => {
    const share = draw.from(1, 1, 1, 2, 3, 5, 40)
    const node = leafNode(name, share, capped && draw.percent(20) ? draw.between(1, 5) * 1000 : null)
    if (!draw.percent(30)) return { ...node, persons: draw.percent(20) ? { p: 3 } : {} }
    return { ...node, children: ['x', 'y'].map((child) => leafNode(child, draw.from(1, 1, 2, 3))) }
  })
  return draw.percent(10) && tree.length > 1 ? tree.with(0, { ...tree[0]!, share: 0 }) : tree
}

export const leavesOf = (tree: ReadonlyArray<BudgetNodePolicy>): ReadonlyArray<string> =>
  tree.flatMap(({ name, children }) =>
    children.length === 0 ? [name] : children.map((child) => `${name}/${child.name}`),
  )

export interface WorldOptions {
  readonly mode: AllocationPolicy['mode']
  /** Caps, quota, headroom, reserves, protected pools: what limits beside shares. */
  readonly limited: boolean
}

export const anyBudgetPolicy = (draw: Draw, { mode, limited }: WorldOptions): AllocationPolicy => ({
  budgets: {
    ...defaultBudget,
    reclaimAfterMs: ms(draw.from(0, minute, 10 * minute, 10 * minute)),
    tree: anyTree(draw, limited),
    turnMs: ms(draw.from(10, 30, 30) * minute),
    windowHours: draw.from(1, 3, 12),
  },
  classes: ['training', 'evaluation', 'debug'].slice(0, draw.from(0, 2, 3)).map((name, i) => anyClass(draw, name, i)),
  contract: { ...defaultContract, drillRequired: draw.percent(80), minRuntimeMaxMs: ms(draw.from(1, 2) * hour) },
  impactHypothesis: null,
  limits: {
    ...defaultLimits,
    evictionsPerMinute: draw.from(null, null, 60, 1, 2),
    holdMs: ms(draw.from(5, 15) * minute),
    lossMaxMilliUnitHours: limited && draw.percent(15) ? draw.from(500, 4000) : null,
    preemptionsPerTeamHour: draw.from(null, null, 1, 3),
    promotionAfter: draw.from(null, null, 1, 3),
  },
  mode,
  name: 'test',
  owner: null,
  placement: { mix: null, seed: 0, strategy: draw.from('first-fit', 'first-fit', 'best-fit', 'spread') },
  poolModes: {},
  queues: [{ name: 'default', ordering: 'greedy' }],
  reviewDate: null,
  ...(limited && anyLimits(draw)),
})

const anyClass = (draw: Draw, name: string, priority: number): ClassPolicy => ({
  ...defaultClass(name),
  priority: draw.percent(50) ? priority : 0,
  agingMs: draw.percent(20) ? ms(hour) : null,
  reserveAfterMs: ms(draw.from(0, 10 * minute, hour, 12 * hour)),
  reserveDevices: name === 'debug' && draw.percent(40) ? 1 : 0,
})

const anyLimits = (draw: Draw): Partial<AllocationPolicy> => ({
  ...(draw.percent(25) && {
    caps: {
      perPersonMilli: draw.from(null, 2000, 4000),
      perTeamMilli: draw.from(null, 3000, 5000),
      teams: draw.percent(30) ? { a: draw.between(1, 4) * 1000 } : {},
    },
  }),
  ...(draw.percent(20) && {
    headroom: { band: { high: 80, low: 60 }, lent: draw.percent(70), percent: draw.from(10, 25) },
  }),
  ...(draw.percent(15) && { protectedPools: [{ budgets: ['a'], name: 'pool', nodes: ['n0'] }] }),
  ...(draw.percent(45) && anyQuota(draw)),
})

const anyQuota = (draw: Draw): Partial<AllocationPolicy> => {
  const quotaOf = (nominal: number, borrowing: number | null, lending: number | null) => [
    { accelerator: 'any', devices: { borrowing, lending, nominal: nominal * 1000 } },
  ]
  const quota = () => quotaOf(draw.between(0, 4), draw.from(null, 0, 2000), draw.from(null, 0, 1000))
  const cohorts = [
    { fairWeightMilli: 1000, name: 'root', parent: null, quotas: draw.percent(30) ? quota() : [] },
    { fairWeightMilli: 1000, name: 'below', parent: 'root', quotas: draw.percent(30) ? quota() : [] },
  ]
  const cohort = draw.from('root', 'below')
  const deadline = { lendingDeadlineMs: ms(draw.from(minute, 30 * minute)) }
  if (draw.percent(40))
    return {
      cohorts,
      queues: [
        {
          cohort: 'root',
          name: 'default',
          ordering: 'greedy',
          quotas: quotaOf(draw.between(2, 6), 0, null),
          ...deadline,
        },
        { cohort, name: 'other', ordering: 'greedy', quotas: quotaOf(draw.below(2), null, null) },
      ],
    }
  return {
    cohorts,
    queues: [
      { cohort: 'root', name: 'default', ordering: 'greedy', quotas: quota(), ...(draw.percent(50) && deadline) },
      { cohort, name: 'other', ordering: 'greedy', quotas: quota(), ...(draw.percent(50) && deadline) },
    ],
  }
}

/** Up to eight devices on one to three nodes. */
export const anyFleet = (draw: Draw, most = 8): ReadonlyArray<NodeRegistered['data']> => {
  const nodes: NodeRegistered['data'][] = []
  let left = draw.between(1, most)
  for (let i = 0; left > 0; i++) {
    const devices = i === 2 ? left : Math.min(left, draw.between(1, 8))
    left -= devices
    nodes.push({
      cpuMilli: null,
      deviceMemoryMib: null,
      devices,
      domain: null,
      hostMemoryMib: null,
      model: null,
      node: `n${i}`,
    })
  }
  return nodes
}

/** Something that the empty fleet would hold, most often. */
export const anyWorkload = (
  draw: Draw,
  id: string,
  policy: AllocationPolicy,
  devicesMost: number,
): WorkloadSubmitted['data'] => {
  const budget = draw.from(...leavesOf(policy.budgets!.tree))
  const devices = draw.from(1, 1, 1, 2, 2, 3, 4, draw.between(1, devicesMost))
  const half = devices === 1 && draw.percent(20)
  const elastic = devices > 1 && draw.percent(25)
  return {
    class: draw.from('training', 'training', 'evaluation', 'debug'),
    estimateMs: draw.percent(30) ? ms(draw.from(5, 30, 90, 300) * minute) : null,
    queue: draw.from(...policy.queues.map(({ name }) => name)),
    request: requestOf({ devices, milli: half ? 500 : 1000, span: draw.from('anywhere', 'anywhere', 'node') }),
    team: budget.split('/')[0]!,
    terms: {
      ...unstatedTerms,
      budget,
      elasticity: elastic
        ? { maxReplicas: devices, minReplicas: draw.between(1, devices - 1), resizeCostMs: ms(0) }
        : null,
      preemption: {
        ...unstatedTerms.preemption,
        checkpointIntervalMs: draw.percent(30) ? ms(30 * minute) : null,
        minRuntimeMs: ms(draw.from(0, 0, 10, 30, 120) * minute),
        tolerated: draw.percent(90),
      },
      submitter: draw.from('p', 'p', 'p', 'q'),
    },
    workload: id,
  }
}
