import { durationText } from '../kernel/quantity.ts'
import { contractOf, kueueOf, limitsOf, sharingOf, type AllocationPolicy } from './allocation-policy.ts'
import { warning, type Warnable, type Warning } from './warning.ts'

/** Of what is stated and binds nothing under the sharing of this policy, and of what its sharing cannot keep. */
export const sharingWarnings = ({ policy }: Warnable): ReadonlyArray<Warning> => [
  ...unbound(policy),
  ...orderingWarnings(policy),
  ...weightWarnings(policy),
  ...boundWarnings(policy),
  ...evictionWarnings(policy),
]

const unbound = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const sharing = sharingOf(policy)
  const warnings: Warning[] = []
  if (policy.kueue !== undefined && sharing !== 'kueue')
    warnings.push(
      warning('binds only where spec.sharing is kueue', 'remove it, or write sharing: kueue', 'spec', 'kueue'),
    )
  if (policy.fairTree !== undefined && sharing !== 'fair-tree')
    warnings.push(
      warning(
        'binds only where spec.sharing is fair-tree',
        'remove it, or write sharing: fair-tree',
        'spec',
        'fairTree',
      ),
    )
  if (policy.budgets !== undefined && sharing === 'kueue')
    warnings.push(
      warning(
        'decides nothing where spec.sharing is kueue: quota does',
        'leave sharing out, for budgets, or remove what nobody is given',
        'spec',
        'budgets',
      ),
    )
  if (policy.sharing === undefined && policy.budgets === undefined && policy.contract !== undefined)
    warnings.push(
      warning(
        'promises protection from eviction, and nobody is evicted: there is no budget tree',
        'add spec.budgets, or another sharing, or remove it',
        'spec',
        'contract',
      ),
    )
  if (kueueOf(policy).usageOrdering?.halfLifeMs === 0)
    warnings.push(
      warning(
        'is 0: nothing that is used is counted, so that only teams of weight 0 go behind others',
        'give a time, such as 7d, or remove usageOrdering',
        'spec',
        'kueue',
        'usageOrdering',
        'halfLife',
      ),
    )
  if (sharing === 'kueue' && kueueOf(policy).loops === 'compatible')
    warnings.push(
      warning(
        'lets two workloads evict each other again and again, as Kueue does',
        'write safe unless the point is to compare',
        'spec',
        'kueue',
        'loops',
      ),
    )
  return warnings
}

const orderingWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const sharing = sharingOf(policy)
  if (sharing === 'queues' || sharing === 'kueue') return []
  return policy.queues.flatMap(({ ordering }, i) =>
    ordering === 'greedy'
      ? []
      : [
          warning(
            `does not bind: who is next comes from ${sharing}, not from the queue`,
            'remove it; a class keeps the place of what waits too long (spec.classes[].reserveAfter)',
            'spec',
            'queues',
            i,
            'ordering',
          ),
        ],
  )
}

const weightWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const sharing = sharingOf(policy)
  if (sharing === 'kueue' && kueueOf(policy).fairSharing !== null) return []
  const mend = sharing === 'kueue' ? 'add spec.kueue.fairSharing, or remove it' : 'remove it'
  const weighed = [
    ...policy.queues.map((queue, i) => ['queues', i, queue.fairWeightMilli ?? 1000] as const),
    ...(policy.cohorts ?? []).map((cohort, i) => ['cohorts', i, cohort.fairWeightMilli] as const),
  ]
  return weighed.flatMap(([list, i, milli]) =>
    milli === 1000
      ? []
      : [warning('does not bind: no share of quota decides anything here', mend, 'spec', list, i, 'fairWeight')],
  )
}

/** Classes that may have to wait out a protected window which is longer than their bound. */
const boundWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  if (sharingOf(policy) !== 'budgets') return []
  const { minRuntimeMaxMs } = contractOf(policy)
  return (policy.classes ?? []).flatMap(({ boundMs, name, reserveDevices }, i) => {
    if (reserveDevices > 0 || boundMs >= minRuntimeMaxMs) return []
    const [bound, runtime] = [durationText(boundMs), durationText(minRuntimeMaxMs)]
    return [
      warning(
        `${name} is promised a start within ${bound}, and gangs that fill the fleet may be protected for ${runtime}`,
        `give the class a reserve, or lower spec.contract.minRuntimeMax to ${bound}`,
        'spec',
        'classes',
        i,
      ),
    ]
  })
}

/** Where what is lent or owed can never be taken back. */
const evictionWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const sharing = sharingOf(policy)
  if (sharing !== 'budgets' && sharing !== 'kueue') return []
  const { evictionsPerMinute, preemptionsPerTeamHour } = limitsOf(policy)
  return Object.entries({ evictionsPerMinute, preemptionsPerTeamHour }).flatMap(([limit, most]) =>
    most !== 0
      ? []
      : [
          warning(
            'is 0: nobody is ever evicted, so what is lent or owed comes back only as work ends',
            'give at least 1',
            'spec',
            'limits',
            limit,
          ),
        ],
  )
}
