import type { Cell } from '../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import { durations } from '../../domain/simulation/durations.ts'
import { requestedMilli, type PlacementRequest } from '../../domain/workload/request.ts'
import type { Fleet } from '../../domain/fleet/fleet.ts'

/** Figures of one simulation; null where a figure has no meaning in its mode. Times in seconds, GPU in thousandths. */
export interface SimulationReport {
  readonly jobs: number
  readonly refused: number
  /** Jobs that waited longer than no time at all. */
  readonly waiting: number | null
  /** Jobs that still waited when nothing more could happen; they are in no figure of waits. */
  readonly neverStarted: number | null
  readonly sumWaitS: number | null
  readonly meanWaitS: number | null
  readonly p50WaitS: number | null
  readonly p90WaitS: number | null
  readonly p99WaitS: number | null
  readonly maxWaitS: number | null
  /** The job that waited longest, the first to come of several. */
  readonly maxWaitJob: string | null
  /** When that job came. */
  readonly maxWaitFromS: number | null
  readonly meanWaitByClass: { readonly [kind: string]: number } | null
  readonly meanWaitByQueue: { readonly [queue: string]: number } | null
  readonly meanWaitByGpus: { readonly [gpus: string]: number } | null
  /** Mean time from submission to end. */
  readonly meanJctS: number | null
  /** How long something waited, as things stood after each pass. */
  readonly queueNonEmptyS: number | null
  readonly meanFreeMilliWhileQueued: number | null
  readonly firstSubmitS: number | null
  readonly lastEndS: number | null
  /** GPU-time used over GPU-time installed, from the first submission to the last end. */
  readonly util: number | null
  readonly placed: number | null
  readonly unplaced: number | null
  readonly unplacedMilli: number | null
  readonly allocatedMilli: number | null
  readonly share: number | null
  readonly freeGpus: number | null
  readonly partialGpus: number | null
  readonly partialFreeMilli: number | null
  /** Eight-GPU nodes that are wholly free. */
  readonly free8GpuNodes: number | null
  readonly firstUnplaced: string | null
}

interface SimulatedJob {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly request: PlacementRequest
  readonly submitAt: number
  startAt: number | null
  /** When what runs now began; it may have run before. */
  ranFrom: number
  ranMs: number
  endAt: number | null
  refused: boolean
}

/** Follows a simulation and sums it up. */
export class SimulationLedger {
  private readonly jobs = new Map<string, SimulatedJob>()
  private queued = false
  private freeSince = 0
  private lastAt = 0
  private queuedMs = 0
  private freeMilliMs = 0n

  follow(input: CellInput, decisions: ReadonlyArray<CellDecision>, cell: Cell): void {
    if (input.type === 'WorkloadSubmitted') {
      const { class: kind, queue, request, workload: id } = input.data
      const fixed = { id, kind, queue, request, submitAt: input.at }
      this.jobs.set(id, { ...fixed, startAt: null, ranFrom: 0, ranMs: 0, endAt: null, refused: false })
    }
    if (input.type === 'AttemptEnded') {
      const job = this.jobs.get(input.data.workload)!
      job.endAt = input.at
      job.ranMs += input.at - job.ranFrom
    }
    for (const { type, at, data } of decisions) {
      if (type === 'WorkloadAdmitted') {
        const job = this.jobs.get(data.workload)!
        job.startAt ??= at
        job.ranFrom = at
      }
      if (type === 'AttemptStopped') {
        const job = this.jobs.get(data.workload)!
        job.ranMs += at - job.ranFrom
      }
      if (type === 'WorkloadRefused') this.jobs.get(data.workload)!.refused = true
    }
    if (input.type === 'Ticked') this.afterPass(input.at, cell)
  }

  /** Figures of a run by time. */
  timed(fleet: Fleet): SimulationReport {
    const all = [...this.jobs.values()]
    const started = all.filter((job) => job.startAt !== null)
    const waitsMs = started.map((job) => job.startAt! - job.submitAt)
    const waits = durations(waitsMs)
    const longest = longestWait(started)
    const ended = all.filter((job) => job.endAt !== null)
    const first = leastOf(all.map((job) => job.submitAt))
    const last = mostOf(ended.map((job) => job.endAt!))
    const installed = BigInt(fleet.deviceCount * wholeGpu) * BigInt(Math.max(0, (last ?? 0) - (first ?? 0)))
    return {
      ...nothing,
      jobs: all.length,
      refused: all.filter((job) => job.refused).length,
      waiting: waitsMs.filter((wait) => wait > 0).length,
      neverStarted: all.filter((job) => job.startAt === null && !job.refused).length,
      sumWaitS: waits?.sumS ?? 0,
      meanWaitS: waits?.meanS ?? null,
      p50WaitS: waits?.p50S ?? null,
      p90WaitS: waits?.p90S ?? null,
      p99WaitS: waits?.p99S ?? null,
      maxWaitS: waits?.maxS ?? null,
      maxWaitJob: longest?.id ?? null,
      maxWaitFromS: longest === null ? null : longest.submitAt / 1000,
      meanWaitByClass: meansS(started, (job) => job.kind),
      meanWaitByQueue: meansS(started, (job) => job.queue),
      meanWaitByGpus: meansS(started, (job) => String(job.request.devices)),
      meanJctS: ended.length === 0 ? null : sumOf(ended, (job) => job.endAt! - job.submitAt) / ended.length / 1000,
      queueNonEmptyS: this.queuedMs / 1000,
      meanFreeMilliWhileQueued:
        this.queuedMs === 0 ? null : Number((this.freeMilliMs * 10_000n) / BigInt(this.queuedMs)) / 10_000,
      firstSubmitS: first === null ? null : first / 1000,
      lastEndS: last === null ? null : last / 1000,
      util: installed === 0n ? null : Number((usedMilliMs(ended) * 1_000_000_000n) / installed) / 1e9,
    }
  }

  /** Figures of a fill in which nothing leaves. */
  filled(fleet: Fleet): SimulationReport {
    const all = [...this.jobs.values()]
    const placed = all.filter((job) => job.startAt !== null)
    const unplaced = all.filter((job) => job.startAt === null)
    const milliOf = (job: SimulatedJob) => requestedMilli(job.request)
    const installed = fleet.deviceCount * wholeGpu
    const allocated = sumOf(placed, milliOf)
    return {
      ...nothing,
      ...freeDevices(fleet),
      jobs: all.length,
      refused: all.filter((job) => job.refused).length,
      placed: placed.length,
      unplaced: unplaced.length,
      unplacedMilli: sumOf(unplaced, milliOf),
      allocatedMilli: allocated,
      share: installed === 0 ? null : allocated / installed,
      firstUnplaced: unplaced[0]?.id ?? null,
    }
  }

  private afterPass(at: number, cell: Cell): void {
    if (this.queued) {
      this.queuedMs += at - this.lastAt
      this.freeMilliMs += BigInt(this.freeSince) * BigInt(at - this.lastAt)
    }
    this.queued = cell.queues.some((queue) => queue.size > 0)
    this.freeSince = cell.fleet.freeTotal
    this.lastAt = at
  }
}

const nothing: SimulationReport = {
  jobs: 0,
  refused: 0,
  waiting: null,
  neverStarted: null,
  sumWaitS: null,
  meanWaitS: null,
  p50WaitS: null,
  p90WaitS: null,
  p99WaitS: null,
  maxWaitS: null,
  maxWaitJob: null,
  maxWaitFromS: null,
  meanWaitByClass: null,
  meanWaitByQueue: null,
  meanWaitByGpus: null,
  meanJctS: null,
  queueNonEmptyS: null,
  meanFreeMilliWhileQueued: null,
  firstSubmitS: null,
  lastEndS: null,
  util: null,
  placed: null,
  unplaced: null,
  unplacedMilli: null,
  allocatedMilli: null,
  share: null,
  freeGpus: null,
  partialGpus: null,
  partialFreeMilli: null,
  free8GpuNodes: null,
  firstUnplaced: null,
}

/** Null when none waited. */
const longestWait = (started: ReadonlyArray<SimulatedJob>): SimulatedJob | null => {
  let longest: SimulatedJob | null = null
  for (const job of started)
    if (job.startAt! - job.submitAt > (longest === null ? 0 : longest.startAt! - longest.submitAt)) longest = job
  return longest
}

const meansS = (jobs: ReadonlyArray<SimulatedJob>, keyOf: (job: SimulatedJob) => string) => {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const job of jobs) {
    const entry = sums.get(keyOf(job)) ?? { sum: 0, count: 0 }
    entry.sum += job.startAt! - job.submitAt
    entry.count++
    sums.set(keyOf(job), entry)
  }
  const sorted = [...sums].sort(([a], [b]) => Number(a) - Number(b) || (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, { sum, count }]) => [key, sum / count / 1000]))
}

const usedMilliMs = (ended: ReadonlyArray<SimulatedJob>): bigint => {
  let used = 0n
  for (const { request, ranMs } of ended) used += BigInt(requestedMilli(request)) * BigInt(ranMs)
  return used
}

const freeDevices = (fleet: Fleet) => {
  let freeGpus = 0
  let partialGpus = 0
  let partialFreeMilli = 0
  for (let device = 0; device < fleet.deviceCount; device++) {
    const free = fleet.deviceFree[device]!
    if (free === wholeGpu) freeGpus++
    else if (free > 0) {
      partialGpus++
      partialFreeMilli += free
    }
  }
  const free8GpuNodes = fleet.nodes.filter(({ devices }, node) => devices === 8 && fleet.wholeFree[node] === 8).length
  return { freeGpus, partialGpus, partialFreeMilli, free8GpuNodes }
}

const sumOf = <A>(items: ReadonlyArray<A>, of: (item: A) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0)

const leastOf = (numbers: ReadonlyArray<number>): number | null =>
  numbers.length === 0 ? null : numbers.reduce((least, n) => Math.min(least, n))
const mostOf = (numbers: ReadonlyArray<number>): number | null =>
  numbers.length === 0 ? null : numbers.reduce((most, n) => Math.max(most, n))
