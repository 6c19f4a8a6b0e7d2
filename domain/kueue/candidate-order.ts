import type { Holder } from './holdings.ts'

/**
 * Who goes first among those who may be evicted: who is leaving already, who is not of the preemptor's queue, within a
 * queue whose sub-queue has used more, who has the lower priority, who was admitted last, whose id is smaller.
 */
export const inCandidateOrder = <T>(
  candidates: ReadonlyArray<T>,
  preemptorQueue: number,
  holderOf: (candidate: T) => Holder,
): T[] => {
  // Usage compares only within a queue, so it may go round in a circle with priorities of another queue: a fixed start
  // makes the outcome one of the candidates alone.
  const usage = candidates.some((candidate) => holderOf(candidate).subQueue !== undefined)
  const start = usage ? candidates.toSorted((a, b) => byId(holderOf(a), holderOf(b))) : candidates
  const order = candidateOrder(preemptorQueue)
  return start.toSorted((a, b) => order(holderOf(a), holderOf(b)))
}

export const candidateOrder =
  (preemptorQueue: number) =>
  (a: Holder, b: Holder): number => {
    if (a.evicting !== b.evicting) return a.evicting ? -1 : 1
    if ((a.queue === preemptorQueue) !== (b.queue === preemptorQueue)) return a.queue === preemptorQueue ? 1 : -1
    if (a.queue === b.queue && a.subQueue !== undefined && b.subQueue !== undefined) {
      if (a.subQueue.name !== b.subQueue.name && a.subQueue.usage !== b.subQueue.usage)
        return b.subQueue.usage - a.subQueue.usage
    }
    if (a.priority !== b.priority) return a.priority - b.priority
    if (a.admittedAt !== b.admittedAt) return a.admittedAt > b.admittedAt ? -1 : 1
    return byId(a, b)
  }

const byId = (a: Holder, b: Holder): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
