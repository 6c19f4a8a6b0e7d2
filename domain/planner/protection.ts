import type { EpochMs } from '../kernel/units.ts'
import { contractOf, limitsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { ExceptionPolicy } from '../policy/contract-policy.ts'
import { isWithinBudgets, type Charged } from './budget-path.ts'
import type { Cell } from './cell.ts'
import type { Run, Workload } from './workload.ts'

/** Why a running attempt may not be taken for others now; null: it may. */
export type Protection =
  'starting' | 'leaving' | 'intolerant' | 'undrilled' | 'promoted' | 'protected-window' | 'excepted'

const msPerDay = 86_400_000

/** Until when what runs is left alone, by what it declared and the policy allows; Infinity: it has not started yet. */
export const protectedUntil = (policy: AllocationPolicy | null, workload: Workload, run: Run): number => {
  if (run.confirmedAt === null) return Infinity
  return Math.max(windowUntil(policy, workload, run.confirmedAt), turnUntil(policy, workload, run))
}

/** Path into the policy document of what it is left alone by for the longest. */
export const protectionRule = (policy: AllocationPolicy | null, workload: Workload, run: Run): string => {
  const { confirmedAt } = run
  const byTurn = confirmedAt !== null && turnUntil(policy, workload, run) > windowUntil(policy, workload, confirmedAt)
  return byTurn ? 'spec.budgets.turn' : 'spec.contract.minRuntimeMax'
}

const windowUntil = (policy: AllocationPolicy | null, { terms }: Workload, confirmedAt: number): number =>
  confirmedAt + Math.min(terms.preemption.minRuntimeMs, contractOf(policy).minRuntimeMaxMs)

/** What was started by an eviction, or again after one, has a full turn: so nobody evicts each other by turns. */
const turnUntil = (policy: AllocationPolicy | null, { preemptions }: Workload, run: Run): number =>
  run.preempted || preemptions > 0 ? run.startedAt + (policy?.budgets?.turnMs ?? 0) : 0

/** It made room for others so often that it is no victim any more. */
export const isPromoted = (policy: AllocationPolicy | null, { preemptions }: Workload): boolean => {
  const { promotionAfter } = limitsOf(policy)
  return promotionAfter !== null && preemptions >= promotionAfter
}

export const protectionOf = (cell: Cell, workload: Workload, run: Run, at: EpochMs): Protection | null => {
  const { policy } = cell
  if (run.open !== null) return 'leaving'
  if (run.confirmedAt === null) return 'starting'
  if (!workload.terms.preemption.tolerated) return 'intolerant'
  if (!cell.isDrilled(workload, at)) return 'undrilled'
  if (isPromoted(policy, workload)) return 'promoted'
  if (protectedUntil(policy, workload, run) > at) return 'protected-window'
  return exceptionFor(policy, workload, at, 'not-preempted') === undefined ? null : 'excepted'
}

type Allowed<K> = ExceptionPolicy & { readonly allows: Extract<ExceptionPolicy['allows'], { readonly kind: K }> }

/** The exception of this kind that holds for the workload now. */
export const exceptionFor = <K extends ExceptionPolicy['allows']['kind']>(
  policy: AllocationPolicy | null,
  workload: Workload,
  at: EpochMs,
  kind: K,
): Allowed<K> | undefined =>
  policy?.exceptions?.find((exception): exception is Allowed<K> => holds(policy, exception, workload, at, kind))

/** Path into the policy document. */
export const exceptionRule = (policy: AllocationPolicy, exception: ExceptionPolicy): string =>
  `spec.exceptions[${policy.exceptions!.indexOf(exception)}]`

/** When the exception ends by which it is not evicted; Infinity: with the policy; null: there is none. */
export const exceptedUntil = (policy: AllocationPolicy | null, workload: Workload, at: EpochMs): number | null => {
  const exception = exceptionFor(policy, workload, at, 'not-preempted')
  if (exception === undefined) return null
  return exception.expires === null ? Infinity : endOfGrant(exception.expires)
}

/** The highest cap of the exceptions that hold for the workload now, thousandths of devices; 0: there are none. */
export const raisedCapMilli = (policy: AllocationPolicy, workload: Workload, at: EpochMs): number =>
  (policy.exceptions ?? []).reduce(
    (most, exception) =>
      holds(policy, exception, workload, at, 'cap') ? Math.max(most, exception.allows.devicesMilli) : most,
    0,
  )

const holds = <K extends ExceptionPolicy['allows']['kind']>(
  policy: AllocationPolicy,
  exception: ExceptionPolicy,
  workload: Workload,
  at: EpochMs,
  kind: K,
): exception is Allowed<K> =>
  exception.allows.kind === kind && !isPast(exception.expires, at) && isSubject(policy, exception, workload)

/** A date begins at midnight UTC; null: never. */
export const isPast = (day: string | null, at: EpochMs): boolean => day !== null && at >= endOfGrant(day)

/** When what expires on that date ends. */
export const endOfGrant = (day: string): number => Math.floor(Date.parse(day) / msPerDay) * msPerDay

/** Whether an exception is about the workload. */
export const isSubject = (
  policy: AllocationPolicy,
  { subject: { kind, name } }: ExceptionPolicy,
  workload: Charged & Pick<Workload, 'id' | 'team'>,
): boolean => {
  switch (kind) {
    case 'team':
      return workload.team === name
    case 'submitter':
      return workload.terms.submitter === name
    case 'workload':
      return workload.id === name
    case 'budget':
      return isWithinBudgets(policy, workload, [name])
  }
}
