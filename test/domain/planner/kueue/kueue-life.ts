import { CellLife } from '../../../support/cell-life.ts'
import type { AllocationPolicy, QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { defaultPolicy } from '../../../../domain/policy/allocation-policy.codec.ts'
import { defaultClass, type ClassPolicy } from '../../../../domain/policy/budget-policy.ts'
import { defaultContract } from '../../../../domain/policy/contract-policy.ts'
import { defaultPreemption, type QueuePreemption } from '../../../../domain/policy/quota-policy.ts'

/** So many whole devices of one accelerator. */
export const devices = (nominal: number, borrowing: number | null = null, lending: number | null = null) => ({
  accelerator: 'gpu',
  devices: {
    nominal: nominal * 1000,
    borrowing: borrowing === null ? null : borrowing * 1000,
    lending: lending === null ? null : lending * 1000,
  },
})

export const queue = (
  name: string,
  nominal: number,
  preemption: Partial<QueuePreemption> = {},
  more: Partial<QueuePolicy> = {},
): QueuePolicy => ({
  name,
  ordering: 'greedy',
  cohort: 'all',
  quotas: [devices(nominal)],
  preemption: { ...defaultPreemption, ...preemption },
  ...more,
})

const priorities = { low: -1, middle: 0, high: 1 }
const classes = Object.entries(priorities).map(([name, priority]): ClassPolicy => ({ ...defaultClass(name), priority }))

/** Quota shared as Kueue does, by queues of one cohort; only advised, and nobody needs a drill. */
export const kueuePolicy = (
  queues: ReadonlyArray<QueuePolicy>,
  more: Partial<AllocationPolicy> = {},
): AllocationPolicy => ({
  ...defaultPolicy,
  mode: 'advise',
  sharing: 'kueue',
  classes,
  cohorts: [{ name: 'all', parent: null, fairWeightMilli: 1000, quotas: [] }],
  contract: { ...defaultContract, drillRequired: false },
  queues,
  ...more,
})

/** A cell with so many devices under such a policy. */
export const lifeOf = (policy: AllocationPolicy, fleet = 4): CellLife =>
  new CellLife().nodes(fleet / 2, 2).policy(policy)
