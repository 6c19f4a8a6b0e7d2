import type { ItpJob } from './files.ts'
import { mean, percentile, sum } from './waits.ts'

export type CountOrdering = 'fifo' | 'greedy' | 'reserve'

export interface CountReplay {
  readonly sumWait: number
  readonly meanWait: number
  readonly p50Wait: number
  readonly p90Wait: number
  readonly maxWait: number
  readonly waiting: number
  readonly meanJct: number
  readonly lastEnd: number
  readonly util: number
  readonly meanWaitByGpus: ReadonlyMap<number, number>
  readonly startedAt: ReadonlyMap<string, number>
}

interface Running {
  readonly end: number
  readonly gpus: number
}

/** One pool of `capacity` equal GPUs, where only their number counts. The slow way. */
export const countSlowly = (jobs: ReadonlyArray<ItpJob>, capacity: number, ordering: CountOrdering): CountReplay => {
  const arrivals = jobs
    .map((job, row) => ({ job, row }))
    .filter(({ job }) => job.gpus <= capacity)
    .sort((a, b) => a.job.submit - b.job.submit || a.row - b.row)
    .map(({ job }) => job)
  let queue: Array<ItpJob> = []
  let running: Array<Running> = []
  let free = capacity
  let next = 0
  let now = 0
  let lastEnd = 0
  const startedAt = new Map<string, number>()

  const start = (job: ItpJob): void => {
    free -= job.gpus
    running.push({ end: now + job.run, gpus: job.gpus })
    startedAt.set(job.id, now)
  }
  const startHeads = (): void => {
    while (queue.length > 0 && queue[0]!.gpus <= free) start(queue.shift()!)
  }
  /** When the head can start if nothing else does, and how much is then left over. */
  const reservationFor = (head: ItpJob): readonly [at: number, extra: number] => {
    let freeThen = free
    const ends = [...running].sort((a, b) => a.end - b.end)
    for (const [i, { end, gpus }] of ends.entries()) {
      freeThen += gpus
      if (ends[i + 1]?.end !== end && freeThen >= head.gpus) return [end, freeThen - head.gpus]
    }
    throw new Error(`${head.id} never fits`)
  }
  const pass = (): void => {
    startHeads()
    const head = queue[0]
    if (head === undefined || ordering === 'fifo') return
    if (ordering === 'greedy') {
      queue = queue.filter((job) => {
        if (job.gpus > free) return true
        start(job)
        return false
      })
      return
    }
    const [at, extraThen] = reservationFor(head)
    let extra = extraThen
    queue = queue.filter((job) => {
      if (job === head || job.gpus > free) return true
      const inTime = now + job.run <= at
      if (!inTime && job.gpus > extra) return true
      if (!inTime) extra -= job.gpus
      start(job)
      return false
    })
  }

  while (next < arrivals.length || running.length > 0) {
    now = running.reduce((least, { end }) => Math.min(least, end), arrivals[next]?.submit ?? Infinity)
    for (const { end, gpus } of running) {
      if (end !== now) continue
      free += gpus
      lastEnd = end
    }
    running = running.filter(({ end }) => end !== now)
    for (; next < arrivals.length && arrivals[next]!.submit === now; next++) queue.push(arrivals[next]!)
    pass()
  }

  const waitOf = (job: ItpJob): number => startedAt.get(job.id)! - job.submit
  const waits = arrivals.map(waitOf)
  return {
    sumWait: sum(waits),
    meanWait: mean(waits),
    p50Wait: percentile(waits, 0.5),
    p90Wait: percentile(waits, 0.9),
    maxWait: waits.reduce((most, wait) => Math.max(most, wait), 0),
    waiting: waits.filter((wait) => wait > 0).length,
    meanJct: mean(arrivals.map((job) => waitOf(job) + job.run)),
    lastEnd,
    util: sum(arrivals.map((job) => job.gpus * job.run)) / (capacity * (lastEnd - arrivals[0]!.submit)),
    meanWaitByGpus: new Map(
      [...new Set(arrivals.map(({ gpus }) => gpus))].map((gpus) => [
        gpus,
        mean(arrivals.filter((job) => job.gpus === gpus).map(waitOf)),
      ]),
    ),
    startedAt,
  }
}
