import { wholeGpu } from '../kernel/units.ts'
import { requestedMilli } from '../workload/request.ts'
import { exactSum } from './exact-sum.ts'
import type { TraceJob } from './trace-job.ts'

/** The highest level, and when it is first reached. */
export interface Peak {
  readonly value: number
  readonly atS: number
}

/** What would run at one instant if every job ran from its submission, without any limit. */
export interface DemandPeaks {
  readonly gpuMilli: Peak
  /** Devices wanted, each counted whole. */
  readonly gpus: Peak
  readonly jobs: Peak
  readonly cpuMilli: Peak
}

/** The demand as steps: `gpuMilli[i]` from `at[i]` until `at[i + 1]`; 0 after the last. */
export interface Demand {
  readonly at: Float64Array
  readonly gpuMilli: Float64Array
  readonly peaks: DemandPeaks
}

/** One GPU for one hour, in thousandths of a GPU x milliseconds. */
export const gpuHourMilliMs = wholeGpu * 3_600_000
/** @returns GPU-hours of an exact sum of thousandths x milliseconds */
export const gpuHoursOf = (milliMs: bigint): number => Number(milliMs) / gpuHourMilliMs

/** Takes jobs with times. Releases come before starts at the same instant; a job of zero life occupies nothing. */
export const demandOf = (jobs: ReadonlyArray<TraceJob>): Demand => {
  const submits = new Float64Array(jobs.length)
  const ends = new Float64Array(jobs.length)
  for (let i = 0; i < jobs.length; i++) {
    submits[i] = jobs[i]!.submitAt!
    ends[i] = submits[i]! + jobs[i]!.runMs!
  }
  const bySubmit = order(submits)
  const byEnd = order(ends)
  const at = new Float64Array(2 * jobs.length)
  const gpuMilli = new Float64Array(2 * jobs.length)
  let steps = 0
  const level = { gpuMilli: 0, gpus: 0, jobs: 0, cpuMilli: 0 }
  const peaks = { gpuMilli: noPeak, gpus: noPeak, jobs: noPeak, cpuMilli: noPeak }
  const change = (job: TraceJob, sign: 1 | -1): void => {
    level.gpuMilli += sign * requestedMilli(job.request)
    level.gpus += sign * job.request.devices
    level.jobs += sign
    level.cpuMilli += sign * job.request.cpuMilli
  }
  for (let s = 0, e = 0; e < jobs.length;) {
    const nextSubmit = s < jobs.length ? submits[bySubmit[s]!]! : Infinity
    const now = Math.min(nextSubmit, ends[byEnd[e]!]!)
    for (; s < jobs.length && submits[bySubmit[s]!] === now; s++) change(jobs[bySubmit[s]!]!, 1)
    for (; e < jobs.length && ends[byEnd[e]!] === now; e++) change(jobs[byEnd[e]!]!, -1)
    for (const name of levels)
      if (level[name] > peaks[name].value) peaks[name] = { value: level[name], atS: now / 1000 }
    at[steps] = now
    gpuMilli[steps] = level.gpuMilli
    steps += 1
  }
  return { at: at.subarray(0, steps), gpuMilli: gpuMilli.subarray(0, steps), peaks }
}
const levels = ['gpuMilli', 'gpus', 'jobs', 'cpuMilli'] as const
const noPeak: Peak = { value: 0, atS: 0 }

/** Indexes by ascending value, equal ones in their own order. */
const order = (values: Float64Array): Uint32Array =>
  Uint32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b)

/** The demand from one instant to the end of the last job. Percentiles are weighted by time. */
export interface DemandWindow {
  readonly fromS: number
  readonly toS: number
  readonly meanGpuMilli: number
  /** The least level that the demand is at or below for that part of the time. */
  readonly p50GpuMilli: number
  readonly p90GpuMilli: number
  readonly p95GpuMilli: number
  readonly p99GpuMilli: number
  readonly above: ReadonlyArray<{
    readonly gpus: number
    /** Part of the window's time in which more than `gpus` are wanted: 0 to 1. */
    readonly timeShare: number
    /** What is wanted above it. */
    readonly gpuHours: number
  }>
}

/** @param capacities GPUs to compare with; absent: at most nine even steps from half the peak up to it */
export const demandWindow = (
  { at, gpuMilli }: Demand,
  fromMs: number,
  capacities?: ReadonlyArray<number>,
): DemandWindow => {
  const toMs = at.at(-1) ?? fromMs
  const spanMs = Math.max(0, toMs - fromMs)
  const timeAt = new Map<number, number>()
  for (let i = 0; i + 1 < at.length; i++) {
    const ms = at[i + 1]! - Math.max(at[i]!, fromMs)
    if (ms > 0) timeAt.set(gpuMilli[i]!, (timeAt.get(gpuMilli[i]!) ?? 0) + ms)
  }
  const byLevel = [...timeAt].sort(([a], [b]) => a - b)
  const total = exactSum()
  for (const [milli, ms] of byLevel) total.add(milli, ms)
  const percentile = (percent: number): number => {
    let ms = 0
    for (const [milli, atLevel] of byLevel) {
      ms += atLevel
      if (ms * 100 >= spanMs * percent) return milli
    }
    return 0
  }
  const peak = byLevel.at(-1)?.[0] ?? 0
  return {
    fromS: fromMs / 1000,
    toS: toMs / 1000,
    meanGpuMilli: spanMs === 0 ? 0 : Number(total.total()) / spanMs,
    p50GpuMilli: percentile(50),
    p90GpuMilli: percentile(90),
    p95GpuMilli: percentile(95),
    p99GpuMilli: percentile(99),
    above: (capacities ?? stepsBelow(peak)).map((gpus) => {
      const excess = exactSum()
      let timeMs = 0
      for (const [milli, ms] of byLevel) {
        if (milli <= gpus * wholeGpu) continue
        timeMs += ms
        excess.add(milli - gpus * wholeGpu, ms)
      }
      return { gpus, timeShare: spanMs === 0 ? 0 : timeMs / spanMs, gpuHours: gpuHoursOf(excess.total()) }
    }),
  }
}

const stepsMax = 9
/** Multiples of eight GPUs, or of twice that, and so on: as fine as `stepsMax` allows. */
const stepsBelow = (peakMilli: number): ReadonlyArray<number> => {
  const peak = Math.floor(peakMilli / wholeGpu)
  let step = 8
  while (peak / 2 / step > stepsMax - 1) step *= 2
  const from = Math.floor(peak / 2 / step) * step
  const steps: Array<number> = []
  for (let gpus = Math.max(step, from); gpus <= peak; gpus += step) steps.push(gpus)
  return steps
}
