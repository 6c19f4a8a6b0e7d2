import { podsOf, type Pod } from '../../support/oracle/files.ts'

/** How the fleet stands after an instant, all worked out anew. Thousandths of a device, MiB. */
export interface Standing {
  readonly at: number
  readonly free: ReadonlyArray<ReadonlyArray<number>>
  readonly waiting: ReadonlyArray<Pod>
  readonly running: number
  /** The mix that fragmentation is measured against: how often each kind, GPUs x 10,000 + thousandths, has come. */
  readonly mix: ReadonlyMap<number, number>
}

export interface ByHand {
  readonly standings: ReadonlyArray<Standing>
  /** When each pod started, ms. */
  readonly startedAt: ReadonlyMap<string, number>
  readonly pods: ReadonlyArray<Pod>
}

const wholeGpu = 1000

/**
 * GPU pods by their own times on equal nodes of eight GPUs, in order of arrival, each on the first node that takes it, who
 * does not fit is skipped. From the pod list alone; everything is recomputed at every instant.
 */
export const openbByHand = (file: string, nodes: number): ByHand => {
  const pods = podsOf(file)
    .map((pod, row) => ({ pod, row }))
    .filter(({ pod }) => pod.gpus > 0)
    .sort((a, b) => a.pod.submit - b.pod.submit || a.row - b.row)
    .map(({ pod }) => pod)
  const free = Array.from({ length: nodes }, () => new Array<number>(8).fill(wholeGpu))
  const startedAt = new Map<string, number>()
  const standings = new Map<number, Standing>()
  const seenMix = new Map<number, number>()
  let seen = 0
  let measured = { seen: 0, mix: new Map<number, number>() }
  let queue: Pod[] = []
  let running: {
    readonly end: number
    readonly node: number
    readonly devices: ReadonlyArray<number>
    readonly pod: Pod
  }[] = []
  const start = (pod: Pod, now: number): boolean => {
    for (const [node, devices] of free.entries()) {
      const fitting = devices.flatMap((share, device) => (share >= pod.milli ? [device] : []))
      if (fitting.length < pod.gpus) continue
      const taken = fitting.slice(0, pod.gpus)
      for (const device of taken) devices[device]! -= pod.milli
      running.push({ end: now + (pod.end - pod.submit), node, devices: taken, pod })
      startedAt.set(pod.name, now * 1000)
      return true
    }
    return false
  }
  for (let next = 0; next < pods.length || running.length > 0;) {
    const now = Math.min(pods[next]?.submit ?? Infinity, ...running.map(({ end }) => end))
    for (const { end, node, devices, pod } of running)
      if (end === now) for (const device of devices) free[node]![device]! += pod.milli
    running = running.filter(({ end }) => end !== now)
    for (; pods[next]?.submit === now; next++) {
      const { gpus, milli } = pods[next]!
      queue.push(pods[next]!)
      const kind = gpus * 10_000 + milli
      seenMix.set(kind, (seenMix.get(kind) ?? 0) + 1)
      seen++
      // The mix follows the demand in steps of a tenth.
      if (seen * 10 > measured.seen * 11) measured = { seen, mix: new Map(seenMix) }
    }
    queue = queue.filter((pod) => !start(pod, now))
    standings.set(now * 1000, {
      at: now * 1000,
      free: free.map((devices) => [...devices]),
      waiting: [...queue],
      running: running.length,
      mix: measured.mix,
    })
  }
  return { standings: [...standings.values()], startedAt, pods }
}

const sumOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

/** What a kind of request could not use of a node: all that is free where it does not fit, else what is too small for it. */
const fragmentOf = (free: ReadonlyArray<number>, gpus: number, milli: number): number => {
  const fitting = free.filter((share) => share >= milli).length
  return fitting < gpus ? sumOf(free) : sumOf(free.filter((share) => share < milli))
}

/** The numbers of one row of `fragmentation`, by the names of its columns. */
export const fragmentationByHand = (
  { free, waiting, running, mix }: Standing,
  deviceMemoryMib: number,
  domainOf: (node: number) => string,
): Readonly<Record<string, number>> => {
  const whole = free.map((devices) => devices.filter((share) => share === wholeGpu).length)
  const installed = 8 * wholeGpu * free.length
  const freeMilli = sumOf(free.map(sumOf))
  const memory = free.flat().map((share) => Math.floor((share * deviceMemoryMib) / wholeGpu))
  const domains = new Map<string, number>()
  for (const [node, count] of whole.entries()) domains.set(domainOf(node), (domains.get(domainOf(node)) ?? 0) + count)
  const weight = sumOf([...mix.values()])
  let fgd = 0
  for (const devices of free)
    for (const [kind, count] of mix) fgd += count * fragmentOf(devices, Math.floor(kind / 10_000), kind % 10_000)
  const stranded = sumOf(memory.filter((mib) => mib < deviceMemoryMib))
  return {
    installed_milli: installed,
    schedulable_milli: installed,
    allocated_milli: installed - freeMilli,
    free_milli: freeMilli,
    free_devices: sumOf(whole),
    placeable_milli: sumOf(whole) * wholeGpu,
    stranded_milli: freeMilli - sumOf(whole) * wholeGpu,
    largest_share_milli: Math.max(...free.flat()),
    largest_node_milli: Math.max(...whole) * wholeGpu,
    largest_domain_milli: Math.max(...domains.values()) * wholeGpu,
    largest_gang_milli: whole.filter((count) => count === 8).length * 8 * wholeGpu,
    memory_mib: 8 * free.length * deviceMemoryMib,
    free_memory_mib: sumOf(memory),
    stranded_memory_mib: stranded,
    stranded_memory_share: stranded / (8 * free.length * deviceMemoryMib),
    fgd_milli: fgd / weight,
    fgd_sum: fgd,
    fgd_weight: weight,
    waiting: waiting.length,
    waiting_milli: sumOf(waiting.map(({ gpus, milli }) => gpus * milli)),
    running,
  }
}

/** Thousandths x ms allocated in each window of so many ms, from 0 to `until`, by its beginning. */
export const allocatedByHand = (
  standings: ReadonlyArray<Standing>,
  until: number,
  windowMs: number,
): ReadonlyMap<number, bigint> => {
  const windows = new Map<number, bigint>()
  for (let from = 0; from < until; from += windowMs) windows.set(from, 0n)
  for (const [i, { at, free }] of standings.entries()) {
    const end = standings[i + 1]?.at ?? until
    const allocated = BigInt(8 * wholeGpu * free.length - sumOf(free.map(sumOf)))
    for (let from = at; from < end;) {
      const window = from - (from % windowMs)
      const to = Math.min(end, window + windowMs)
      windows.set(window, windows.get(window)! + allocated * BigInt(to - from))
      from = to
    }
  }
  return windows
}

/** Rule R-7 on whole ms: between the two ranks nearest to (n - 1) x percent / 100. */
export const percentileByHand = (values: ReadonlyArray<number>, percent: number): number => {
  const sorted = [...values].sort((a, b) => a - b).map(BigInt)
  const hundredths = BigInt((sorted.length - 1) * percent)
  const low = sorted[Number(hundredths / 100n)]!
  const high = sorted[Math.min(sorted.length - 1, Number(hundredths / 100n) + 1)]!
  return Number(low * 100n + (high - low) * (hundredths % 100n)) / 100
}
