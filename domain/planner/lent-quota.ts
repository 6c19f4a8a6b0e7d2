import type { EpochMs } from '../kernel/units.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Books } from './books.ts'
import type { Workload } from './workload.ts'

/** What a workload may take back of what its queue has lent, because the deadline for that is over. */
export interface LentRight {
  /** Path into the policy document. */
  readonly rule: string
  readonly deadlineMs: number
  /** What it wants, and its queue's own quota has room for: by number in the quota tree. */
  readonly wanted: ReadonlyArray<number>
}

/**
 * It runs within its queue's own quota, which that lends until a deadline: for who would have to borrow it, it is not
 * taken, or it would have to come back by the deadline again.
 * @param leavingOf what of a queue's usage is on its way back, by flavor-resource
 */
export const isNotLent = (
  { quota }: Books,
  { queues }: AllocationPolicy,
  { queue: { index, name } }: Workload,
  forWhom: Workload,
  leavingOf: (queue: string) => ReadonlyMap<number, number>,
): boolean =>
  queues[index]?.lendingDeadlineMs !== undefined &&
  quota.limits(forWhom.queue.name) &&
  quota.ownRoom(forWhom.queue.name, forWhom.shape) === null &&
  !quota.borrows(name, leavingOf(name))

/** Its queue's own quota has room for it, and it has waited for as long as the queue lends; null: not so. */
export const lentRightOf = (
  { quota }: Books,
  { queues }: AllocationPolicy,
  { queue: { index, name }, shape, wantsSince }: Workload,
  at: EpochMs,
): LentRight | null => {
  const deadlineMs = queues[index]?.lendingDeadlineMs
  if (deadlineMs === undefined || wantsSince + deadlineMs > at) return null
  const wanted = quota.ownRoom(name, shape)
  return wanted === null ? null : { rule: `spec.queues[${index}].lendingDeadline`, deadlineMs, wanted }
}
