import type { Step } from '../kernel/document.ts'
import { wholeGpu } from '../kernel/units.ts'
import { QuotaTree } from '../quota/quota-tree.ts'
import { sharingOf, type AllocationPolicy, type QueuePolicy } from './allocation-policy.ts'
import { devicesText, warning, type Warnable, type Warning } from './warning.ts'
import { quotaNodesOf } from './quota-nodes.ts'
import { defaultPreemption, quotaResources, type AcceleratorQuota, type QuotaResource } from './quota-policy.ts'
import type { Supply } from './supply.ts'

/** Of quota that promises more than there is, and of queues that share less than it looks. */
export const quotaWarnings = ({ policy, supply }: Warnable): ReadonlyArray<Warning> => [
  ...(supply === null ? [] : supplyWarnings(policy, supply)),
  ...policy.queues.flatMap((queue, i) => aloneWarnings(policy, queue, i)),
  ...sharedWarnings(policy),
]

interface PlacedQuota {
  readonly quota: AcceleratorQuota
  readonly steps: ReadonlyArray<Step>
}

const placedQuotas = ({ cohorts = [], queues }: AllocationPolicy): ReadonlyArray<PlacedQuota> => {
  const placed = (list: 'queues' | 'cohorts', all: ReadonlyArray<{ quotas?: ReadonlyArray<AcceleratorQuota> }>) =>
    all.flatMap(({ quotas = [] }, i) => quotas.map((quota, j) => ({ quota, steps: ['spec', list, i, 'quotas', j] })))
  return [...placed('queues', queues), ...placed('cohorts', cohorts)]
}

/** Guarantees beyond what is installed, where their sum passes it, and quota of hardware that is not there. */
const supplyWarnings = (policy: AllocationPolicy, supply: Supply): ReadonlyArray<Warning> => {
  const quotas = placedQuotas(policy)
  // Of a fleet that does not say what its devices are, only the sum over all of them is known.
  if (supply.byAccelerator.size === 0) return promiseWarnings(quotas, supply.devices, 'quotas')
  const known = [...supply.byAccelerator.keys()].sort().slice(0, 5).join(', ')
  const mend = `the fleet has ${known}: name one, or list its models in spec.accelerators`
  return [...byAccelerator(quotas)].flatMap(([accelerator, own]) => {
    const installed = supply.byAccelerator.get(accelerator)
    return installed === undefined
      ? [warning(`the fleet has no ${accelerator}`, mend, ...own[0]!.steps, 'accelerator')]
      : promiseWarnings(own, installed, accelerator)
  })
}

const byAccelerator = (quotas: ReadonlyArray<PlacedQuota>): ReadonlyMap<string, ReadonlyArray<PlacedQuota>> => {
  const grouped = new Map<string, PlacedQuota[]>()
  for (const placed of quotas) {
    const { accelerator } = placed.quota
    const own = grouped.get(accelerator)
    if (own === undefined) grouped.set(accelerator, [placed])
    else own.push(placed)
  }
  return grouped
}

const promiseWarnings = (quotas: ReadonlyArray<PlacedQuota>, devices: number, what: string): ReadonlyArray<Warning> => {
  const installed = devices * wholeGpu
  const promised = quotas.reduce((sum, { quota }) => sum + (quota.devices?.nominal ?? 0), 0)
  if (promised <= installed) return []
  let sum = 0
  const first = quotas.find(({ quota }) => (sum += quota.devices?.nominal ?? 0) > installed)!
  return [
    warning(
      `nominals of ${what} add up to ${devicesText(promised)}, and the fleet has ${devices}: not all get theirs at once`,
      `lower them by ${devicesText(promised - installed)}, and let borrowing do the rest`,
      ...[...first.steps, 'devices', 'nominal'],
    ),
  ]
}

const aloneWarnings = (policy: AllocationPolicy, queue: QueuePolicy, i: number): ReadonlyArray<Warning> => {
  const { cohort, preemption = defaultPreemption, quotas } = queue
  if (cohort !== undefined) return []
  const warnings: Warning[] = []
  if (quotas !== undefined && policy.cohorts !== undefined)
    warnings.push(
      warning(
        'has quota and no cohort: it neither lends nor borrows, whatever is idle',
        'give it a cohort',
        'spec',
        'queues',
        i,
      ),
    )
  if (preemption.reclaimWithinCohort !== 'never')
    warnings.push(
      warning(
        'has no cohort to take back from',
        'give the queue a cohort, or remove it',
        'spec',
        'queues',
        i,
        'preemption',
      ),
    )
  return warnings
}

const sharedWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const { cohorts = [], queues } = policy
  if (cohorts.length === 0) return []
  const tree = new QuotaTree(quotaNodesOf(policy))
  const potential = (queue: string, { accelerator }: AcceleratorQuota, resource: QuotaResource): number =>
    tree.potential(tree.node('queue', queue), tree.flavorResource(accelerator, resource)!)
  return queues.flatMap((queue, i) => {
    const { cohort, name, quotas = [] } = queue
    if (cohort === undefined) return []
    const warnings = quotas.flatMap((quota, j) =>
      quotaResources.flatMap((resource): ReadonlyArray<Warning> => {
        const stated = quota[resource]
        if (stated === undefined) return []
        const { borrowing, lending, nominal } = stated
        const steps = ['spec', 'queues', i, 'quotas', j, resource]
        const most = potential(name, quota, resource)
        return [
          ...(nominal > 0 && lending === 0 ? [neverLends(steps)] : []),
          ...(most > nominal ? [] : [neverBorrows(most, borrowing === 0, steps)]),
          ...(most > nominal && borrowing !== null && nominal + borrowing > most
            ? [borrowsLess(most, resource, steps)]
            : []),
        ]
      }),
    )
    const { reclaimWithinCohort } = queue.preemption ?? defaultPreemption
    const lends = quotas.some(({ devices }) => devices !== undefined && devices.nominal > 0 && devices.lending !== 0)
    return sharingOf(policy) === 'kueue' && lends && reclaimWithinCohort === 'never'
      ? [...warnings, neverTakesBack(i)]
      : warnings
  })
}

const neverLends = (steps: ReadonlyArray<Step>): Warning =>
  warning(
    'is 0: what it does not use stays idle while others wait',
    'lend some of it; it comes back when the queue needs it',
    ...[...steps, 'lending'],
  )

const neverBorrows = (most: number, isForbidden: boolean, steps: ReadonlyArray<Step>): Warning =>
  most === 0
    ? warning('can never hold any: it has none, and nobody lends any', 'give it a nominal, or remove it', ...steps)
    : isForbidden
      ? warning(
          'is 0: its work waits beyond its nominal, even while all else is idle',
          'let it borrow; what is borrowed goes back to its owner',
          ...[...steps, 'borrowing'],
        )
      : warning('can never borrow: nobody in its cohort lends any', 'raise what others lend', ...steps)

const borrowsLess = (most: number, resource: QuotaResource, steps: ReadonlyArray<Step>): Warning =>
  warning(
    `is more than others can ever lend: it holds at most ${resource === 'devices' ? devicesText(most) : most} in all`,
    'lower it to that, or raise what others lend',
    ...[...steps, 'borrowing'],
  )

const neverTakesBack = (i: number): Warning =>
  warning(
    'lends, and takes nothing back: what is lent returns only as the work on it ends',
    'add preemption: { reclaimWithinCohort: any }',
    'spec',
    'queues',
    i,
  )
