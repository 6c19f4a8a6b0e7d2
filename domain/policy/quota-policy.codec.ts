import { built, name, oneOf, optional, record, wholeNumber } from '../kernel/document.ts'
import { cpu, cpuMaxMilli, cpuText, memory, memoryMaxMib, memoryText } from '../kernel/quantity.ts'
import { wholeGpu, type CpuMilli, type Mebibytes } from '../kernel/units.ts'
import { defaultTopologyLevels, orderings, type QueuePolicy } from './allocation-policy.ts'
import {
  derived,
  dictionary,
  list,
  listedElsewhere,
  may,
  must,
  orAbsent,
  orNull,
  orUnlimited,
  plain,
  struct,
  thousandths,
  time,
  type Form,
} from './form.ts'
import {
  borrowPolicies,
  defaultFairTree,
  defaultFairWeightMilli,
  defaultFungibility,
  defaultKueue,
  defaultPreemption,
  defaultUsageOrdering,
  fairSharingStrategies,
  flavorPreferences,
  flavorSearches,
  loopRules,
  milliUnitsOf,
  quotaResources,
  reclaimPolicies,
  withinQueuePolicies,
  type AcceleratorPolicy,
  type AcceleratorQuota,
  type CohortPolicy,
  type FairTreePolicy,
  type FlavorFungibility,
  type KueuePolicy,
  type Quota,
  type QueuePreemption,
  type UsageOrderingPolicy,
} from './quota-policy.ts'

const queuesMax = 10_000
const acceleratorsMax = 1000
const modelsMax = 1000
const cohortsMax = 10_000
const quotasMax = 1000
const levelsMax = 16
/** With the most queues and cohorts, sums stay exact. */
const devicesMax = 1_000_000
const milliUnitsMax = 1_000_000
const weightMax = 1_000_000
const teamsMax = 10_000
/** Below a second there would be more samples than events. */
const samplingMinMs = 1000
const priorityMax = 1_000_000_000

export const devices = thousandths('devices', devicesMax)
export const priority: Form<number> = plain(wholeNumber(-priorityMax, priorityMax))
const fairWeight = thousandths('a weight', weightMax)

const hostCpu: Form<number> = {
  document: cpu(0),
  event: wholeNumber(0, cpuMaxMilli),
  written: (milli) => cpuText(milli as CpuMilli),
}
const hostMemory: Form<number> = {
  document: memory(0),
  event: wholeNumber(0, memoryMaxMib),
  written: (mib) => memoryText(mib as Mebibytes),
}

const accelerator: Form<AcceleratorPolicy> = struct<AcceleratorPolicy>({
  name: must('name', plain(name)),
  models: derived<ReadonlyArray<string>, AcceleratorPolicy>(
    'models',
    list(plain(name), 1, modelsMax, (model) => model),
    (beside) => (beside.name === undefined ? [] : [beside.name]),
  ),
  milliUnits: derived<number, AcceleratorPolicy>('units', plain(wholeNumber(1, milliUnitsMax)), (beside) =>
    beside.name === undefined ? wholeGpu : milliUnitsOf(beside.name),
  ),
})
export const accelerators = list(accelerator, 1, acceleratorsMax, (each) => each.name)

const quotaOf = (amount: Form<number>): Form<Quota> =>
  struct<Quota>({
    nominal: must('nominal', amount),
    borrowing: may('borrowing', orUnlimited(amount), null),
    lending: may('lending', orUnlimited(amount), null),
  })

const acceleratorQuota: Form<AcceleratorQuota> = struct<AcceleratorQuota>(
  {
    accelerator: must('accelerator', plain(name)),
    devices: orAbsent('devices', quotaOf(devices)),
    cpu: orAbsent('cpu', listedElsewhere(quotaOf(hostCpu))),
    memory: orAbsent('memory', listedElsewhere(quotaOf(hostMemory))),
  },
  (got, notes) => {
    if (quotaResources.every((resource) => got[resource] === undefined))
      notes.add('limits nothing', `add what may be held of it: ${quotaResources.join(', ')}`)
  },
)
const quotas = list(acceleratorQuota, 1, quotasMax, (quota) => quota.accelerator)

const cohort: Form<CohortPolicy> = struct<CohortPolicy>({
  name: must('name', plain(name)),
  parent: orNull('parent', plain(name)),
  fairWeightMilli: may('fairWeight', fairWeight, defaultFairWeightMilli),
  quotas: may('quotas', listedElsewhere(list(acceleratorQuota, 0, quotasMax, (quota) => quota.accelerator)), []),
})
export const cohorts = list(cohort, 1, cohortsMax, (each) => each.name)

const preemption: Form<QueuePreemption> = struct<QueuePreemption>(
  {
    withinQueue: may('withinQueue', plain(oneOf(withinQueuePolicies)), defaultPreemption.withinQueue),
    reclaimWithinCohort: may('reclaimWithinCohort', plain(oneOf(reclaimPolicies)), 'never'),
    borrowWithinCohort: may('borrowWithinCohort', plain(oneOf(borrowPolicies)), 'never'),
    borrowPriorityMax: orNull('borrowPriorityMax', priority),
  },
  ({ borrowPriorityMax = null, borrowWithinCohort, reclaimWithinCohort }, notes) => {
    if (borrowWithinCohort === 'lowerPriority' && reclaimWithinCohort === 'never')
      notes.add(
        'takes from others while borrowing, and may not take back what is its own',
        'allow reclaimWithinCohort, or leave it out',
        'borrowWithinCohort',
      )
    if (borrowWithinCohort === 'never' && borrowPriorityMax !== null)
      notes.add(
        'bounds what is taken while borrowing, and nothing is',
        'add borrowWithinCohort: lowerPriority, or remove it',
        'borrowPriorityMax',
      )
  },
)

const fungibility: Form<FlavorFungibility> = struct<FlavorFungibility>({
  whenCanBorrow: may('whenCanBorrow', plain(oneOf(flavorSearches)), defaultFungibility.whenCanBorrow),
  whenCanPreempt: may('whenCanPreempt', plain(oneOf(flavorSearches)), defaultFungibility.whenCanPreempt),
  preference: may('preference', plain(oneOf(flavorPreferences)), defaultFungibility.preference),
})

const queue: Form<QueuePolicy> = struct<QueuePolicy>({
  name: must('name', plain(name)),
  ordering: may('ordering', plain(oneOf(orderings)), 'greedy'),
  budget: orAbsent('budget', plain(name)),
  cohort: orAbsent('cohort', plain(name)),
  fairWeightMilli: orAbsent('fairWeight', fairWeight, defaultFairWeightMilli),
  lendingDeadlineMs: orAbsent('lendingDeadline', time(0)),
  quotas: orAbsent('quotas', quotas),
  preemption: orAbsent('preemption', preemption, defaultPreemption),
  fungibility: orAbsent('fungibility', fungibility, defaultFungibility),
})
export const queues = list(queue, 1, queuesMax, (each) => each.name)

const resourceWeights: Form<UsageOrderingPolicy['weightsMilli']> = struct<UsageOrderingPolicy['weightsMilli']>(
  {
    devices: may('devices', fairWeight, defaultUsageOrdering.weightsMilli.devices),
    cpu: may('cpu', fairWeight, defaultUsageOrdering.weightsMilli.cpu),
    memory: may('memory', fairWeight, defaultUsageOrdering.weightsMilli.memory),
  },
  (weights, notes) => {
    if (quotaResources.every((resource) => weights[resource] === 0))
      notes.add('weighs nothing, so that all teams have used the same', 'give one of them a weight, or leave it out')
  },
)

const usageOrdering: Form<UsageOrderingPolicy> = struct<UsageOrderingPolicy>({
  halfLifeMs: may('halfLife', time(0), defaultUsageOrdering.halfLifeMs),
  samplingMs: may('sampling', time(samplingMinMs), defaultUsageOrdering.samplingMs),
  weightsMilli: may('weights', resourceWeights, defaultUsageOrdering.weightsMilli),
  teamWeightsMilli: may('teams', dictionary(fairWeight, teamsMax), defaultUsageOrdering.teamWeightsMilli),
})

export const kueue: Form<KueuePolicy> = struct<KueuePolicy>({
  fairSharing: orNull(
    'fairSharing',
    list(plain(oneOf(fairSharingStrategies)), 1, fairSharingStrategies.length, (rule) => rule),
  ),
  loops: may('loops', plain(oneOf(loopRules)), defaultKueue.loops),
  usageOrdering: orAbsent('usageOrdering', usageOrdering),
})

export const fairTree: Form<FairTreePolicy> = struct<FairTreePolicy>({
  halfLifeMs: may('halfLife', time(0), defaultFairTree.halfLifeMs),
})

const levels = list(plain(name), 1, levelsMax, (level) => level)
/** Events carry the levels themselves. */
export const topology: Form<ReadonlyArray<string>> = {
  document: built(record({ levels: optional(levels.document, defaultTopologyLevels) }), (got) => got.levels),
  event: levels.event,
  written: (names) => ({ levels: levels.written(names) }),
}
