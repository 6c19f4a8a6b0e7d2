import type { NodeRegistered } from '../planner/cell-event.ts'
import { wholeGpu } from '../kernel/units.ts'
import { requestedMilli } from '../workload/request.ts'
import { demandOf, demandWindow, gpuHoursOf, type DemandPeaks, type DemandWindow } from './demand.ts'
import { durations, type Durations } from './durations.ts'
import { exactSum } from './exact-sum.ts'
import type { RecordedRun } from './recorded-run.ts'
import type { TraceJob } from './trace-job.ts'

/** A part of a trace: jobs, and what they ask for. */
export interface Share {
  readonly jobs: number
  /** Devices x thousandths. */
  readonly gpuMilli: number
  /** From submission to end; null where the trace has no times. */
  readonly gpuHours: number | null
}
export interface NamedShare extends Share {
  readonly name: string
}
export interface ClassShare extends NamedShare {
  readonly gpuJobs: number
  /** Empty where the trace records none. */
  readonly phases: ReadonlyArray<NamedShare>
}

/** What a trace asks for, before anything is scheduled. docs/import.md tells every member and its unit. */
export interface TraceCounts {
  readonly jobs: number
  readonly gpuJobs: number
  readonly cpuOnlyJobs: number
  readonly gpus: number
  readonly gpuMilli: number
  readonly cpuMilli: number
  readonly hostMemoryMib: number
  readonly byGpus: ReadonlyArray<Share & { readonly gpus: number }>
  readonly fractional: Share
  readonly wholeSingle: Share
  readonly multi: Share
  /** Fractional jobs by thousandths, the most common first. */
  readonly byFraction: ReadonlyArray<{ readonly milli: number; readonly jobs: number }>
  readonly byClass: ReadonlyArray<ClassShare>
  /** Null where the trace records no phase. */
  readonly byPhase: ReadonlyArray<NamedShare> | null
  /** GPU jobs by the models that will do, joined with `|`; `any` for those that do not mind. */
  readonly byModels: ReadonlyArray<NamedShare>
  /** The same, as the trace writes them; null where it records nothing. */
  readonly byModelsWritten: ReadonlyArray<NamedShare> | null
  readonly constrained: Share
  /** Null where the trace has no times. */
  readonly times: TraceTimes | null
}

export interface TraceTimes {
  readonly firstSubmitS: number
  readonly lastSubmitS: number
  readonly lastEndS: number
  readonly gpuHours: number
  /** Over the time from the first submission to the last end. */
  readonly meanGpuMilli: number
  readonly duration: Durations
  /** Jobs that run for more than 30 days. */
  readonly long: Share
  readonly peak: DemandPeaks
  readonly window: DemandWindow & {
    readonly submitted: Share
    /** Submitted before the window, and still running when it begins. */
    readonly aliveAtStart: Share
  }
  /** What the trace's own scheduler did; null where that is not recorded. */
  readonly recorded: { readonly wait: Durations; readonly gpuHoursScheduled: number } | null
}

export interface CountOptions {
  /** One entry per job. */
  readonly recorded?: ReadonlyArray<RecordedRun> | null
  /** Where the window begins; absent: the last whole day before which at most 2 % of the jobs were submitted. */
  readonly windowFromMs?: number
  /** Numbers of GPUs that the window's demand is compared with. */
  readonly capacities?: ReadonlyArray<number>
}

const dayMs = 86_400_000
const longMs = 30 * dayMs
const earlyPercentMax = 2

export const countTrace = (jobs: ReadonlyArray<TraceJob>, options: CountOptions = {}): TraceCounts => {
  const timed = jobs.length > 0 && jobs.every((job) => job.submitAt !== null && job.runMs !== null)
  const newTally = () => tally(timed)
  const all = newTally()
  const fractional = newTally()
  const wholeSingle = newTally()
  const multi = newTally()
  const constrained = newTally()
  const byGpus = new Map<number, Tally>()
  const byFraction = new Map<number, number>()
  const byModels = new Map<string, Tally>()
  const byModelsWritten = new Map<string, Tally>()
  const byPhase = new Map<string, Tally>()
  const byClass = new Map<string, { all: Tally; gpuJobs: number; phases: Map<string, Tally> }>()
  const newClass = () => ({ all: newTally(), gpuJobs: 0, phases: new Map<string, Tally>() })
  let gpuJobs = 0
  let gpus = 0
  let cpuMilli = 0
  let hostMemoryMib = 0
  for (let i = 0; i < jobs.length; i++) {
    const job = jobs[i]!
    const { devices, milli, models } = job.request
    const ofClass = entry(byClass, job.class, newClass)
    all.add(job)
    ofClass.all.add(job)
    entry(byGpus, devices, newTally).add(job)
    gpus += devices
    cpuMilli += job.request.cpuMilli
    hostMemoryMib += job.request.hostMemoryMib
    const phase = options.recorded?.[i]?.phase ?? null
    if (phase !== null) {
      entry(byPhase, phase, newTally).add(job)
      entry(ofClass.phases, phase, newTally).add(job)
    }
    if (devices === 0) continue
    gpuJobs += 1
    ofClass.gpuJobs += 1
    entry(byModels, models?.join('|') ?? 'any', newTally).add(job)
    if (options.recorded != null) entry(byModelsWritten, options.recorded[i]?.models ?? 'any', newTally).add(job)
    if (models !== null) constrained.add(job)
    if (devices > 1) multi.add(job)
    else if (milli === wholeGpu) wholeSingle.add(job)
    else {
      fractional.add(job)
      byFraction.set(milli, (byFraction.get(milli) ?? 0) + 1)
    }
  }
  return {
    jobs: jobs.length,
    gpuJobs,
    cpuOnlyJobs: jobs.length - gpuJobs,
    gpus,
    gpuMilli: all.share().gpuMilli,
    cpuMilli,
    hostMemoryMib,
    byGpus: [...byGpus].sort(([a], [b]) => a - b).map(([count, { share }]) => ({ gpus: count, ...share() })),
    fractional: fractional.share(),
    wholeSingle: wholeSingle.share(),
    multi: multi.share(),
    byFraction: [...byFraction]
      .map(([milli, count]) => ({ milli, jobs: count }))
      .sort((a, b) => b.jobs - a.jobs || a.milli - b.milli),
    byClass: [...byClass]
      .map(([name, ofClass]) => ({
        name,
        ...ofClass.all.share(),
        gpuJobs: ofClass.gpuJobs,
        phases: namedShares(ofClass.phases),
      }))
      .sort(mostFirst),
    byPhase: byPhase.size > 0 ? namedShares(byPhase) : null,
    byModels: namedShares(byModels),
    byModelsWritten: options.recorded == null ? null : namedShares(byModelsWritten),
    constrained: constrained.share(),
    times: timed ? timesOf(jobs, options) : null,
  }
}

/** Takes at least one job, all with times. */
const timesOf = (jobs: ReadonlyArray<TraceJob>, options: CountOptions): TraceTimes => {
  let firstMs = Infinity
  let lastSubmitMs = 0
  let lastEndMs = 0
  const total = exactSum()
  const long = tally(true)
  for (const job of jobs) {
    const submitMs = job.submitAt!
    firstMs = Math.min(firstMs, submitMs)
    lastSubmitMs = Math.max(lastSubmitMs, submitMs)
    lastEndMs = Math.max(lastEndMs, submitMs + job.runMs!)
    total.add(requestedMilli(job.request), job.runMs!)
    if (job.runMs! > longMs) long.add(job)
  }
  const fromMs = options.windowFromMs ?? busyFrom(jobs, firstMs)
  const submitted = tally(true)
  const aliveAtStart = tally(true)
  for (const job of jobs) {
    if (job.submitAt! >= fromMs) submitted.add(job)
    else if (job.submitAt! + job.runMs! > fromMs) aliveAtStart.add(job)
  }
  const demand = demandOf(jobs)
  return {
    firstSubmitS: firstMs / 1000,
    lastSubmitS: lastSubmitMs / 1000,
    lastEndS: lastEndMs / 1000,
    gpuHours: gpuHoursOf(total.total()),
    meanGpuMilli: lastEndMs === firstMs ? 0 : Number(total.total()) / (lastEndMs - firstMs),
    duration: durations(jobs.map((job) => job.runMs!))!,
    long: long.share(),
    peak: demand.peaks,
    window: {
      ...demandWindow(demand, fromMs, options.capacities),
      submitted: submitted.share(),
      aliveAtStart: aliveAtStart.share(),
    },
    recorded: options.recorded == null ? null : recordedOf(jobs, options.recorded),
  }
}

/** The last whole day, counted from the time 0 of the trace, before which hardly any job was submitted. */
const busyFrom = (jobs: ReadonlyArray<TraceJob>, firstMs: number): number => {
  const submits = Float64Array.from(jobs, (job) => job.submitAt!).sort()
  const early = Math.floor((submits.length * earlyPercentMax) / 100)
  // The first job that may not be left out; where even the first day has too many, that is where it begins.
  const day = Math.floor(submits[early]! / dayMs) * dayMs
  return Math.max(day, Math.floor(firstMs / dayMs) * dayMs)
}

const recordedOf = (jobs: ReadonlyArray<TraceJob>, recorded: ReadonlyArray<RecordedRun>): TraceTimes['recorded'] => {
  const waits: Array<number> = []
  const held = exactSum()
  for (let i = 0; i < jobs.length; i++) {
    const scheduledAt = recorded[i]?.scheduledAt ?? null
    if (scheduledAt === null) continue
    const job = jobs[i]!
    waits.push(Math.max(0, scheduledAt - job.submitAt!))
    held.add(requestedMilli(job.request), Math.max(0, job.submitAt! + job.runMs! - scheduledAt))
  }
  const wait = durations(waits)
  return wait === null ? null : { wait, gpuHoursScheduled: gpuHoursOf(held.total()) }
}

interface Tally {
  readonly add: (job: TraceJob) => void
  readonly share: () => Share
}
const tally = (timed: boolean): Tally => {
  let jobs = 0
  let gpuMilli = 0
  const milliMs = exactSum()
  return {
    add: (job) => {
      const milli = requestedMilli(job.request)
      jobs += 1
      gpuMilli += milli
      if (timed) milliMs.add(milli, job.runMs!)
    },
    share: () => ({ jobs, gpuMilli, gpuHours: timed ? gpuHoursOf(milliMs.total()) : null }),
  }
}

const entry = <K, V>(map: Map<K, V>, key: K, create: () => V): V => {
  const there = map.get(key)
  if (there !== undefined) return there
  const created = create()
  map.set(key, created)
  return created
}
const mostFirst = (a: NamedShare, b: NamedShare): number => b.jobs - a.jobs || (a.name < b.name ? -1 : 1)
const namedShares = (tallies: ReadonlyMap<string, Tally>): ReadonlyArray<NamedShare> =>
  [...tallies].map(([name, { share }]) => ({ name, ...share() })).sort(mostFirst)

/** What a node list has. Amounts without limit are null in the list and left out of the sums. */
export interface NodeCounts {
  readonly nodes: number
  readonly gpuNodes: number
  readonly gpus: number
  readonly cpuMilli: number
  readonly hostMemoryMib: number
  readonly gpuNodesCpuMilli: number
  readonly gpuNodesHostMemoryMib: number
  readonly byModel: ReadonlyArray<{ readonly model: string; readonly nodes: number; readonly gpus: number }>
  readonly byGpusPerNode: ReadonlyArray<{ readonly gpusPerNode: number; readonly nodes: number }>
}

export const countNodes = (nodes: ReadonlyArray<NodeRegistered['data']>): NodeCounts => {
  const byModel = new Map<string, { nodes: number; gpus: number }>()
  const byGpus = new Map<number, number>()
  const sum = { gpuNodes: 0, gpus: 0, cpuMilli: 0, hostMemoryMib: 0, gpuNodesCpuMilli: 0, gpuNodesHostMemoryMib: 0 }
  for (const { devices, model, cpuMilli, hostMemoryMib } of nodes) {
    sum.cpuMilli += cpuMilli ?? 0
    sum.hostMemoryMib += hostMemoryMib ?? 0
    byGpus.set(devices, (byGpus.get(devices) ?? 0) + 1)
    if (devices === 0) continue
    sum.gpuNodes += 1
    sum.gpus += devices
    sum.gpuNodesCpuMilli += cpuMilli ?? 0
    sum.gpuNodesHostMemoryMib += hostMemoryMib ?? 0
    const ofModel = entry(byModel, model ?? 'any', () => ({ nodes: 0, gpus: 0 }))
    ofModel.nodes += 1
    ofModel.gpus += devices
  }
  return {
    nodes: nodes.length,
    ...sum,
    byModel: [...byModel]
      .map(([model, ofModel]) => ({ model, ...ofModel }))
      .sort((a, b) => b.gpus - a.gpus || (a.model < b.model ? -1 : 1)),
    byGpusPerNode: [...byGpus].sort(([a], [b]) => a - b).map(([gpusPerNode, count]) => ({ gpusPerNode, nodes: count })),
  }
}
