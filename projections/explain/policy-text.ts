import type { ExceptionPolicy } from '../../domain/policy/contract-policy.ts'
import type { PolicyAnswer } from './policy.ts'
import { amountText, gpusText } from './wording.ts'

export const allowedText = (allows: ExceptionPolicy['allows']): string => {
  switch (allows.kind) {
    case 'cap':
      return `cap of ${gpusText(allows.devicesMilli)}`
    case 'not-preempted':
      return 'not evicted'
    case 'non-preemptible-over-entitlement':
      return 'non-preemptible beyond its share'
  }
}

/** One thing that the policy keeps, protects or grants, in words. */
export interface GrantLine {
  readonly kind: 'reservation' | 'pool' | 'headroom' | 'exception'
  readonly name: string | null
  readonly for: string | null
  readonly grants: string
  readonly stands: string
  readonly until: string | null
  readonly owner: string | null
  readonly holds: boolean
}

export const grantLines = ({
  exceptions,
  headroom,
  protectedPools,
  reservations,
}: PolicyAnswer): ReadonlyArray<GrantLine> => [
  ...reservations.map(({ budget, devices, expires, heldMilli, holds, keptMilli, name, owner }): GrantLine => {
    const stands = holds ? `holds ${amountText(heldMilli)}, ${amountText(keptMilli)} idle` : 'released'
    return {
      ...{ kind: 'reservation', name, for: budget, grants: gpusText(devices * 1000), stands },
      ...{ until: expires, owner, holds },
    }
  }),
  ...protectedPools.map(({ budgets, devices, heldByOthersMilli, heldMilli, name }): GrantLine => ({
    ...{ kind: 'pool', name, for: budgets.join(', '), grants: `safe on ${gpusText(devices * 1000)}` },
    stands: `holds ${amountText(heldMilli)}, others ${amountText(heldByOthersMilli)}`,
    ...{ until: null, owner: null, holds: true },
  })),
  ...(headroom === null ? [] : [headroomLine(headroom)]),
  ...exceptions.map(({ allows, expires, holds, name, owner, subject }): GrantLine => ({
    ...{ kind: 'exception', name, for: `${subject.kind} ${subject.name}`, grants: allowedText(allows) },
    stands: holds ? 'holds' : 'over',
    ...{ until: expires, owner, holds },
  })),
]

const headroomLine = ({ heldMilli, lent, mostMilli, percent }: NonNullable<PolicyAnswer['headroom']>): GrantLine => ({
  ...{ kind: 'headroom', name: null, for: 'preemptible', grants: `${percent} %, ${lent ? 'lent' : 'kept idle'}` },
  stands: `others hold ${amountText(heldMilli)} of ${amountText(mostMilli)}`,
  ...{ until: null, owner: null, holds: true },
})
