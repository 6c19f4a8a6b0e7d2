import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { defaultClass } from '../../domain/policy/budget-policy.ts'
import { defaultContract, defaultLimits } from '../../domain/policy/contract-policy.ts'
import { defaultPreemption } from '../../domain/policy/quota-policy.ts'

/** A kind of workload: so many of them in each queue, one every so many ms where they do not come all at once. */
export interface KueueKind {
  readonly name: string
  readonly perQueue: number
  readonly devices: number
  readonly priority: number
  readonly runMs: number
  readonly everyMs: number
}

/** What Kueue calls its large shape: 50 workloads in each of 100 queues of 10 cohorts. */
export const kueueKinds: ReadonlyArray<KueueKind> = [
  { name: 'small', perQueue: 35, devices: 1, priority: 50, runMs: 200, everyMs: 100 },
  { name: 'medium', perQueue: 11, devices: 5, priority: 100, runMs: 500, everyMs: 500 },
  { name: 'large', perQueue: 4, devices: 20, priority: 200, runMs: 1_000, everyMs: 1_200 },
]
export const perQueue = kueueKinds.reduce((sum, kind) => sum + kind.perQueue, 0)

const nominalMilli = 20_000
const borrowingMilli = 100_000
export const nominalDevices = nominalMilli / 1000

/** Cohorts of queues with 20 devices each that may borrow 100 more; nothing but quota protects what runs. */
export const kueueShape = (cohorts: number, queuesPerCohort: number): AllocationPolicy => ({
  ...defaultPolicy,
  mode: 'advise',
  sharing: 'kueue',
  classes: kueueKinds.map(({ name, priority }) => ({ ...defaultClass(name), priority })),
  cohorts: Array.from({ length: cohorts }, (_, i) => ({
    name: `cohort-${i}`,
    parent: null,
    fairWeightMilli: 1000,
    quotas: [],
  })),
  contract: { ...defaultContract, drillRequired: false },
  limits: { ...defaultLimits, evictionsPerMinute: null, preemptionsPerTeamHour: null, promotionAfter: null },
  queues: Array.from({ length: cohorts * queuesPerCohort }, (_, i) => ({
    name: `queue-${i}`,
    ordering: 'greedy',
    cohort: `cohort-${Math.floor(i / queuesPerCohort)}`,
    quotas: [{ accelerator: 'gpu', devices: { nominal: nominalMilli, borrowing: borrowingMilli, lending: null } }],
    preemption: { ...defaultPreemption, reclaimWithinCohort: 'any', withinQueue: 'lowerPriority' },
  })),
})
