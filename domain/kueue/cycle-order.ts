/** What order in a cycle goes by. Times in ms; -Infinity: before any stated time. */
export interface CycleEntry {
  readonly id: string
  readonly priority: number
  readonly queuedAt: number
  readonly borrowLevel: number
  /** It waits for those who were evicted for it. */
  readonly isPreemptor: boolean
}

export interface CycleOrder {
  /** False: priority does not count. */
  readonly priorityFirst: boolean
  readonly preemptorsFirst: boolean
}

/** Order of heads without fair sharing; equal ones go by id. */
export const compareEntries = (a: CycleEntry, b: CycleEntry, order: CycleOrder): number => {
  if (order.preemptorsFirst && a.isPreemptor !== b.isPreemptor) return a.isPreemptor ? -1 : 1
  return a.borrowLevel - b.borrowLevel || compareStanding(a, b, order)
}

export type Standing = Pick<CycleEntry, 'id' | 'priority' | 'queuedAt'>

/** Higher priority, older, smaller id: who goes first where nothing else decides. */
export const compareStanding = (
  a: Standing,
  b: Standing,
  { priorityFirst }: Pick<CycleOrder, 'priorityFirst'>,
): number => {
  if (priorityFirst && a.priority !== b.priority) return b.priority - a.priority
  if (a.queuedAt !== b.queuedAt) return a.queuedAt < b.queuedAt ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

/** Times in ms; null: never. */
export interface QueueHistory {
  readonly createdAt: number
  /** Evicted because it did not become ready in time. */
  readonly startupTimeoutAt: number | null
  /** Preempted by one that borrowed. */
  readonly reclaimedWhileBorrowingAt: number | null
}

export interface RequeueRules extends Pick<CycleOrder, 'priorityFirst'> {
  /** What a workload goes by after a start-up timeout. */
  readonly startupTimeoutRequeueTimestamp: 'createdAt' | 'evictedAt'
}

/** Since when a workload waits, as order sees it. */
export const queuedAt = (history: QueueHistory, rules: RequeueRules): number => {
  if (rules.startupTimeoutRequeueTimestamp === 'evictedAt' && history.startupTimeoutAt !== null)
    return history.startupTimeoutAt
  // Without priorities it would at once be ahead again of the one that it was preempted for.
  if (!rules.priorityFirst && history.reclaimedWhileBorrowingAt !== null) return history.reclaimedWhileBorrowingAt + 1
  return history.createdAt
}
