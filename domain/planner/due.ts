import type { BudgetChange, Lapse } from '../budget/budget-change.ts'
import type { EpochMs } from '../kernel/units.ts'
import { contractOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { askToStop } from './attempt-stop.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type {
  BudgetChanged,
  CellDecision,
  GrantLapsed,
  LeaseIdled,
  NodeHealth,
  WorkloadPromoted,
} from './cell-event.ts'
import { milliUnitHours } from './node-standing.ts'
import { exceptionFor, isPast, isPromoted } from './protection.ts'
import type { Workload } from './workload.ts'

/** What time alone, or the policy that is new, has made due: said once each. */
export const dueDecisions = (
  cell: Cell,
  books: Books,
  policy: AllocationPolicy,
  at: EpochMs,
): ReadonlyArray<CellDecision> => [
  ...books.untold.map((change) => budgetChanged(change, at)),
  ...dueByPolicy(cell, policy, at),
  ...inOrder(cell.watched, (workload) => isIdle(cell, books, workload, at)).map((workload) =>
    idled(books, workload, at),
  ),
  ...inOrder(cell.limited, (workload) => hasToLeave(cell, workload, at)).map((workload) =>
    askToStop(cell, workload, at, { because: 'time-limit' }),
  ),
]

/** The same of what the policy says in every sharing. */
export const dueByPolicy = (cell: Cell, policy: AllocationPolicy, at: EpochMs): ReadonlyArray<CellDecision> => [
  ...lapsed(cell, policy, at),
  ...promoted(cell, at),
]

/** Its time is up, and still it may not be evicted for whoever is owed what it holds. */
const hasToLeave = (cell: Cell, workload: Workload, at: EpochMs): boolean => {
  const { limitAt, open, confirmedAt } = workload.run!
  return (
    limitAt! <= at &&
    open === null &&
    confirmedAt !== null &&
    !cell.isPreemptible(workload, at) &&
    exceptionFor(cell.policy, workload, at, 'non-preemptible-over-entitlement') === undefined
  )
}

const inOrder = (workloads: ReadonlySet<Workload>, isDue: (workload: Workload) => boolean): ReadonlyArray<Workload> =>
  [...workloads].filter(isDue).sort((a, b) => a.seq - b.seq)

const budgetChanged = (change: BudgetChange | Lapse, at: EpochMs): BudgetChanged => {
  const kind = 'kind' in change ? change.kind : 'closed'
  const lapse = 'owed' in change ? change : null
  const [from, to] =
    'kind' in change && change.kind === 'share'
      ? [change.share.from, change.share.to]
      : 'kind' in change && change.kind === 'opened'
        ? [null, change.share]
        : [null, null]
  return {
    type: 'BudgetChanged',
    at,
    data: {
      chargedMilliUnitH: milliUnitHours(lapse?.charged ?? 0n),
      creditMilliUnitH: milliUnitHours(lapse?.credit ?? 0n),
      debtMilliUnitH: milliUnitHours(lapse?.debt ?? 0n),
      from,
      node: change.path,
      owedMilliUnitH: milliUnitHours(lapse?.owed ?? 0n),
      rule: kind === 'closed' ? 'spec.budgets.window' : 'spec.budgets.tree',
      to,
    },
  }
}

const lapsed = (cell: Cell, policy: AllocationPolicy, at: EpochMs): ReadonlyArray<GrantLapsed> => {
  const ended = (grant: GrantLapsed['data']['grant'], name: string, owner: string, rule: string): GrantLapsed => ({
    type: 'GrantLapsed',
    at,
    data: { grant, name, owner, rule },
  })
  const isDue = (grant: string, name: string, expires: string | null) =>
    isPast(expires, at) && !cell.lapsed.has(lapseOf(grant, name, expires))
  return [
    ...(policy.reservations ?? []).flatMap(({ name, owner, expires }, i) =>
      isDue('reservation', name, expires) ? [ended('reservation', name, owner, `spec.reservations[${i}].expires`)] : [],
    ),
    ...(policy.exceptions ?? []).flatMap(({ name, owner, expires }, i) =>
      isDue('exception', name, expires) ? [ended('exception', name, owner, `spec.exceptions[${i}].expires`)] : [],
    ),
  ]
}

/** One that is justified anew, to another date, lapses anew; a policy that says the same again tells nobody anything. */
const lapseOf = (grant: string, name: string, expires: string | null): string => `${grant} ${name} ${expires}`

/** What is known to have lapsed by such an event, as the policy in force has it. */
export const lapseIn = (policy: AllocationPolicy | null, { grant, name }: GrantLapsed['data']): string => {
  const grants = grant === 'reservation' ? policy?.reservations : policy?.exceptions
  return lapseOf(grant, name, grants?.find((each) => each.name === name)?.expires ?? null)
}

/** A new policy may be content with fewer evictions than some have seen already. */
const promoted = (cell: Cell, at: EpochMs): ReadonlyArray<WorkloadPromoted> =>
  (cell.policyIsNew ? [...cell.workloads.values()] : [])
    .filter((workload) => !workload.promoted && isPromoted(cell.policy, workload))
    .sort((a, b) => a.seq - b.seq)
    .map(({ id, preemptions }) => ({
      type: 'WorkloadPromoted',
      at,
      data: { preemptions, rule: 'spec.limits.promotionAfter', workload: id },
    }))

/** It makes no progress, and the fleet is not the cause: nothing of what it holds has failed, or is to be left. */
const isIdle = ({ fleet, policy }: Cell, { budgets }: Books, { run }: Workload, at: EpochMs): boolean => {
  const since = newestSign(run!, contractOf(policy).progressRequired)
  return (
    since !== null &&
    since + budgets.idleAfterMs <= at &&
    run!.parts.every(({ node, devices }) =>
      [null, ...devices].every((device) => !isAtFault.has(fleet.healthOf(node, device))),
    )
  )
}

const isAtFault: ReadonlySet<NodeHealth> = new Set<NodeHealth>(['draining', 'failed'])

const newestSign = (run: NonNullable<Workload['run']>, required: boolean): EpochMs | null =>
  run.progressAt ?? (required ? run.confirmedAt : null)

const idled = ({ budgets }: Books, { id, attempt, account, run }: Workload, at: EpochMs): LeaseIdled => ({
  type: 'LeaseIdled',
  at,
  data: {
    attempt,
    idleSince: ((run!.progressAt ?? run!.confirmedAt!) + budgets.idleAfterMs) as EpochMs,
    milliUnits: account?.rate ?? 0,
    rule: 'spec.budgets.idleAfter',
    workload: id,
  },
})
