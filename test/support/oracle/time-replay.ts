import type { Pod } from './files.ts'
import { devicesFor, type FillRule } from './static-fill.ts'
import { mean, percentile, sum } from './waits.ts'

export type ReplayOrdering = 'fifo' | 'greedy'

/** A pod that did not start in the pass of its own instant, and how things stood right after that pass. */
export interface HeldPod {
  readonly name: string
  readonly gpus: number
  readonly milli: number
  readonly heldAt: number
  readonly startedAt: number
  readonly freeMilli: number
  /** Most wholly free devices on one node. */
  readonly mostFreeDevices: number
  /** Most that is free of one device, in thousandths. */
  readonly largestFreeShare: number
  /** Most devices of one node that each have what one of its devices needs. */
  readonly mostFittingDevices: number
  /** From 0, counted in the queue as that pass left it. */
  readonly position: number
  /** The pods before it in the queue, the head first. */
  readonly ahead: ReadonlyArray<string>
}

export interface Replay {
  readonly jobs: number
  readonly waiting: number
  readonly sumWait: number
  readonly meanWait: number
  readonly p90Wait: number
  readonly p99Wait: number
  readonly maxWait: number
  readonly meanWaitByQos: ReadonlyMap<string, number>
  readonly meanWaitByGpus: ReadonlyMap<number, number>
  readonly queueNonEmpty: number
  /** NaN when nothing ever waited. */
  readonly meanFreeMilliWhileQueued: number
  readonly lastEnd: number
  readonly util: number
  /** Of every GPU pod, by name. Seconds. */
  readonly startedAt: ReadonlyMap<string, number>
  /** By name, in the order in which they began to wait. */
  readonly held: ReadonlyMap<string, HeldPod>
}

/** How things stand right after a pass that left someone waiting. What it holds is the replay's own: read it at once. */
export interface PassSeen {
  readonly at: number
  readonly queue: ReadonlyArray<Pod>
  /** Those of the queue that came at this instant. */
  readonly arrived: ReadonlySet<Pod>
  /** What is free of each device, by node, in thousandths. */
  readonly fleet: ReadonlyArray<ReadonlyArray<number>>
}

interface Running {
  readonly end: number
  readonly node: number
  readonly devices: ReadonlyArray<number>
  readonly milli: number
}

/** GPU pods by their own times on `nodes` machines of eight equal GPUs; nothing else is looked at. The slow way. */
export const replaySlowly = (
  pods: ReadonlyArray<Pod>,
  nodes: number,
  ordering: ReplayOrdering,
  placement: FillRule = 'first',
  seen: (pass: PassSeen) => void = () => undefined,
): Replay => {
  const arrivals = pods
    .map((pod, row) => ({ pod, row }))
    .filter(({ pod }) => pod.gpus > 0)
    .sort((a, b) => a.pod.submit - b.pod.submit || a.row - b.row)
    .map(({ pod }) => pod)
  const fleet = Array.from({ length: nodes }, () => new Array<number>(8).fill(1000))
  let queue: Array<Pod> = []
  let running: Array<Running> = []
  const startedAt = new Map<string, number>()
  const heldSoFar = new Map<string, Omit<HeldPod, 'startedAt'>>()
  let next = 0
  let now = 0
  let queuedFor = 0
  let freeWhileQueued = 0
  let lastEnd = 0

  const freeMilli = (): number => sum(fleet.map(sum))
  const fitting = (free: ReadonlyArray<number>, pod: Pod): number => {
    const need = pod.gpus > 1 ? 1000 : pod.milli
    return free.filter((share) => share >= need).length
  }
  const nodeFor = (pod: Pod): number => {
    const fits = fleet.map((free) => fitting(free, pod) >= pod.gpus)
    if (placement === 'first') return fits.indexOf(true)
    let best = -1
    for (const [node, free] of fleet.entries())
      if (fits[node] === true && (best < 0 || sum(free) < sum(fleet[best]!))) best = node
    return best
  }
  const start = (pod: Pod): boolean => {
    const node = nodeFor(pod)
    if (node < 0) return false
    const devices = devicesFor(pod, fleet[node]!, placement)
    for (const device of devices) fleet[node]![device]! -= pod.milli
    running.push({ end: now + (pod.end - pod.submit), node, devices, milli: pod.milli })
    startedAt.set(pod.name, now)
    return true
  }

  while (next < arrivals.length || running.length > 0) {
    const instant = running.reduce((least, { end }) => Math.min(least, end), arrivals[next]?.submit ?? Infinity)
    if (queue.length > 0) {
      queuedFor += instant - now
      freeWhileQueued += freeMilli() * (instant - now)
    }
    now = instant

    for (const { end, node, devices, milli } of running) {
      if (end !== now) continue
      for (const device of devices) fleet[node]![device]! += milli
      lastEnd = Math.max(lastEnd, end)
    }
    running = running.filter(({ end }) => end !== now)

    const before = queue.length
    for (; next < arrivals.length && arrivals[next]!.submit === now; next++) queue.push(arrivals[next]!)
    const arrived = new Set(queue.slice(before))

    if (ordering === 'fifo') {
      while (queue.length > 0 && start(queue[0]!)) queue.shift()
    } else {
      queue = queue.filter((pod) => !start(pod))
    }

    if (queue.length > 0) seen({ at: now, queue, arrived, fleet })
    for (const [position, pod] of queue.entries()) {
      if (!arrived.has(pod)) continue
      heldSoFar.set(pod.name, {
        name: pod.name,
        gpus: pod.gpus,
        milli: pod.milli,
        heldAt: now,
        freeMilli: freeMilli(),
        mostFreeDevices: Math.max(...fleet.map((free) => free.filter((share) => share === 1000).length)),
        largestFreeShare: Math.max(...fleet.flat()),
        mostFittingDevices: Math.max(...fleet.map((free) => fitting(free, pod))),
        position,
        ahead: queue.slice(0, position).map(({ name }) => name),
      })
    }
  }

  const waitOf = (pod: Pod): number => startedAt.get(pod.name)! - pod.submit
  const waits = arrivals.map(waitOf)
  const grouped = <K>(keyOf: (pod: Pod) => K): Map<K, number> =>
    new Map(
      [...new Set(arrivals.map(keyOf))].map((key) => [
        key,
        mean(arrivals.filter((pod) => keyOf(pod) === key).map(waitOf)),
      ]),
    )
  const work = sum(arrivals.map((pod) => pod.gpus * pod.milli * (pod.end - pod.submit)))
  return {
    jobs: arrivals.length,
    waiting: waits.filter((wait) => wait > 0).length,
    sumWait: sum(waits),
    meanWait: mean(waits),
    p90Wait: percentile(waits, 0.9),
    p99Wait: percentile(waits, 0.99),
    maxWait: waits.reduce((most, wait) => Math.max(most, wait), 0),
    meanWaitByQos: grouped((pod) => pod.qos),
    meanWaitByGpus: grouped((pod) => pod.gpus),
    queueNonEmpty: queuedFor,
    meanFreeMilliWhileQueued: freeWhileQueued / queuedFor,
    lastEnd,
    util: work / (nodes * 8 * 1000 * (lastEnd - arrivals[0]!.submit)),
    startedAt,
    held: new Map([...heldSoFar].map(([name, held]) => [name, { ...held, startedAt: startedAt.get(name)! }])),
  }
}
