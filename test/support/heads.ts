import type { CellEvent } from '../../domain/planner/cell-event.ts'

/** A workload that has stood at the head of its queue after a pass. Times in ms. */
export interface HeadSeen {
  readonly workload: string
  /** The first start that was projected for it by the time it was the head; null: none was. */
  promisedAt: number | null
  startedAt: number | null
}

/** Works out from what a log holds of one queue, and from nothing else, who has stood at its head. */
export const headsIn = (events: ReadonlyArray<CellEvent>): ReadonlyArray<HeadSeen> => {
  const heads = new Map<string, HeadSeen>()
  const promises = new Map<string, number>()
  /** In order of submission, with those that have left up to `first` at most. */
  const queue: string[] = []
  const left = new Set<string>()
  let first = 0
  const seeHead = (): void => {
    while (first < queue.length && left.has(queue[first]!)) first++
    const workload = queue[first]
    if (workload === undefined || heads.has(workload)) return
    heads.set(workload, { workload, promisedAt: promises.get(workload) ?? null, startedAt: null })
  }
  for (const [i, { type, at, data }] of events.entries()) {
    if (type === 'WorkloadSubmitted') queue.push(data.workload)
    if (type === 'WorkloadRefused') left.add(data.workload)
    if (type === 'WorkloadHeld' && data.projectedStartAt !== null && !promises.has(data.workload))
      promises.set(data.workload, data.projectedStartAt)
    if (type === 'WorkloadAdmitted') {
      left.add(data.workload)
      const head = heads.get(data.workload)
      if (head !== undefined) head.startedAt = at
    }
    // A pass is over where the next instant begins.
    if (events[i + 1]?.at !== at) seeHead()
  }
  return [...heads.values()]
}
