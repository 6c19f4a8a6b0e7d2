import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { CellInput, NodeHealth } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { defaultBudget } from '../../domain/policy/budget-policy.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { requestOf } from '../support/arbitrary-fleet.ts'
import { leafNode } from '../support/budget-policy.ts'
import type { Chance } from './lifeline.ts'

type Untimed<I> = I extends unknown ? Omit<I, 'at'> : never
/** Something that somebody wants recorded, and when they ask for it first. */
export interface Told {
  readonly afterMs: number
  readonly order: Untimed<CellInput> & { readonly id: string }
}

export const storyMs = 40_000
const programs = ['a', 'b'] as const
const devicesPerNode = 4

/** Two programs with equal shares; evictions are due within seconds, so that a minute has some. */
const shared = (more: Partial<AllocationPolicy>): AllocationPolicy => ({
  ...defaultPolicy,
  budgets: {
    ...defaultBudget,
    reclaimAfterMs: 2_000 as DurationMs,
    turnMs: 2_000 as DurationMs,
    tree: programs.map((name) => leafNode(name, 1)),
  },
  commands: { startsMax: 4, startWithinMs: 8_000 as DurationMs, stopWithinMs: 8_000 as DurationMs },
  ...more,
})

const policies: ReadonlyArray<AllocationPolicy> = [
  shared({}),
  { ...shared({}), queues: [{ name: 'default', ordering: 'reserve' }] },
  {
    ...defaultPolicy,
    commands: { startsMax: 4, startWithinMs: 8_000 as DurationMs, stopWithinMs: 8_000 as DurationMs },
  },
]

const activation = (document: AllocationPolicy, id: string): Told['order'] => {
  const { type, data } = policyActivated(document, 0 as EpochMs)
  return { id, type, data }
}

/** What a small fleet, its users and its people do in a minute; the same numbers tell the same story. */
export const fleetStory = (below: Chance): ReadonlyArray<Told> => {
  const told: Told[] = []
  const tell = (afterMs: number, order: Told['order']) => told.push({ afterMs, order })
  const policy = policies[below(policies.length)]!
  const nodes = 2 + below(3)
  tell(0, activation(policy, 'policy/first'))
  for (let i = 0; i < nodes; i++) tell(below(1_000), registration(i))
  for (const team of programs)
    tell(below(2_000), {
      id: `drill/${team}`,
      type: 'DrillConcluded',
      data: { modelFamily: null, outcome: 'passed', team },
    })
  const jobs = 5 + below(12)
  for (let i = 0; i < jobs; i++) {
    const at = below(storyMs)
    tell(at, submission(i, below))
    if (below(6) === 0) tell(at + below(storyMs - at), order('CancelRequested', `job-${i}`))
    if (below(8) === 0) {
      tell(at + below(storyMs - at), order('HoldRequested', `job-${i}`))
      tell(storyMs, order('ReleaseRequested', `job-${i}`))
    }
  }
  const disturbances = below(4)
  for (let i = 0; i < disturbances; i++) {
    const health = (['cordoned', 'draining', 'failed'] as const)[below(3)]!
    const device = below(2) === 0 ? null : below(devicesPerNode)
    tell(below(storyMs), healthChange(`${health}/${i}`, below(nodes), health, device))
  }
  for (let node = 0; node < nodes; node++) {
    tell(storyMs, healthChange(`healed/${node}`, node, 'ready', null))
    for (let device = 0; device < devicesPerNode; device++)
      tell(storyMs, healthChange(`healed/${node}/${device}`, node, 'ready', device))
  }
  if (below(3) === 0) tell(below(storyMs), activation({ ...policy, ...unruly[below(unruly.length)] }, 'policy/second'))
  tell(storyMs, activation({ ...policy, owner: 'somebody' }, 'policy/last'))
  return told
}

const unruly: ReadonlyArray<Partial<AllocationPolicy>> = [{ frozen: 'all' }, { mode: 'advise' }, { mode: 'observe' }]

const registration = (i: number): Told['order'] => ({
  id: `node/${i}`,
  type: 'NodeRegistered',
  data: {
    cpuMilli: null,
    deviceMemoryMib: null,
    devices: devicesPerNode,
    domain: null,
    hostMemoryMib: null,
    model: null,
    node: `node-${i}`,
  },
})

const submission = (i: number, below: Chance): Told['order'] => {
  const team = programs[below(programs.length)]!
  const devices = 1 + below(6)
  const elasticity = below(4) === 0 ? { minReplicas: 1, maxReplicas: devices, resizeCostMs: 500 as DurationMs } : null
  return {
    id: `submit/${i}`,
    type: 'WorkloadSubmitted',
    data: {
      class: 'training',
      estimateMs: (1_000 + below(20_000)) as DurationMs,
      queue: 'default',
      request: requestOf({ devices, span: 'anywhere' }),
      team,
      terms: {
        ...unstatedTerms,
        budget: team,
        elasticity,
        preemption: {
          checkpointIntervalMs: below(2) === 0 ? null : (2_000 as DurationMs),
          gracePeriodMs: below(3_000) as DurationMs,
          minRuntimeMs: below(3_000) as DurationMs,
          tolerated: below(4) > 0,
        },
      },
      workload: `job-${i}`,
    },
  }
}

const order = (type: 'CancelRequested' | 'HoldRequested' | 'ReleaseRequested', workload: string): Told['order'] => ({
  id: `${type}/${workload}`,
  type,
  data: { actor: 'u-1', reason: null, workload },
})

const healthChange = (id: string, node: number, health: NodeHealth, device: number | null): Told['order'] => ({
  id,
  type: 'NodeHealthChanged',
  data: { device, health, node: `node-${node}` },
})
