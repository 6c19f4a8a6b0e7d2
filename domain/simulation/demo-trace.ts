import { randomBelow } from '../kernel/random.ts'
import {
  wholeGpu,
  type CpuMilli,
  type DurationMs,
  type EpochMs,
  type GpuMilli,
  type Mebibytes,
} from '../kernel/units.ts'
import type { TraceJob } from './trace-job.ts'

/** The fleet that the demo's demand is made for: most of it busy, and now and then a little too small. */
export const demoNodes = 6
export const demoGpusPerNode = 8
export const demoJobs = 2500
export const demoDays = 4
/** The one that the demo shows: a few dozen jobs wait, some of them for hours. */
export const demoSeed = 7

interface ClassShape {
  readonly name: string
  /** Of a hundred jobs. */
  readonly share: number
  readonly medianS: number
  /** Of a thousand jobs of the class: those with a part of a GPU, and with 2, 4 and 8; the rest take a whole one. */
  readonly fractional: number
  readonly pairs: number
  readonly quads: number
  readonly octets: number
}
const classes: ReadonlyArray<ClassShape> = [
  { name: 'serving', share: 25, medianS: 3300, fractional: 760, pairs: 10, quads: 0, octets: 0 },
  { name: 'training', share: 33, medianS: 1900, fractional: 40, pairs: 30, quads: 25, octets: 18 },
  { name: 'evaluation', share: 27, medianS: 660, fractional: 480, pairs: 10, quads: 5, octets: 0 },
  { name: 'debug', share: 15, medianS: 240, fractional: 820, pairs: 0, quads: 0, octets: 0 },
]
const teams = ['ranking', 'vision', 'speech', 'platform'] as const

/** Thousandths of a GPU that fractional jobs ask for; a value stands as often as it is common. */
const fractions = [810, 810, 810, 810, 470, 470, 470, 320, 320, 650, 650, 230, 230, 460, 140, 500] as const

/** How many jobs come in each hour of a day, in proportion: few at night, most after noon. */
const hours = [5, 4, 4, 4, 4, 5, 6, 8, 10, 11, 12, 12, 11, 12, 13, 13, 12, 11, 10, 9, 8, 7, 6, 5] as const

/**
 * How long jobs run, in thousandths of the median of their class: the seventeen values that cut a log-normal
 * distribution (sigma 1.4) into sixteen equal parts, its ends cut off at 1 and 98.5 %.
 */
const runLengths = [
  39, 117, 200, 289, 389, 504, 640, 802, 1000, 1246, 1562, 1982, 2571, 3463, 5005, 8566, 20_866,
] as const

/**
 * What people ask for: what it will take and up to three quarters more, in whole quarters of an hour; one job in four is
 * asked for at what it takes, rounded down, and so overruns.
 */
const askedFor = (runMs: DurationMs, margin: number): DurationMs => {
  const quarters = (runMs * (4 + margin)) / (4 * quarterMs)
  return ((margin === 0 ? Math.max(1, Math.floor(quarters)) : Math.ceil(quarters)) * quarterMs) as DurationMs
}
const quarterMs = 900_000

/** The same seed gives the same trace, in order of submission. */
export const demoTrace = (seed: number, count = demoJobs): ReadonlyArray<TraceJob> => {
  let state = seed
  const below = (bound: number): number => {
    const [value, next] = randomBelow(state, bound)
    state = next
    return value
  }
  const pick = <T>(from: ReadonlyArray<T>): T => from[below(from.length)]!
  /** An index, as often as its weight says. */
  const weighted = (weights: ReadonlyArray<number>): number => {
    let left = below(weights.reduce((sum, weight) => sum + weight, 0))
    for (const [index, weight] of weights.entries()) {
      if (left < weight) return index
      left -= weight
    }
    return 0
  }
  const runMs = (medianS: number): DurationMs => {
    const part = below(runLengths.length - 1)
    const low = runLengths[part]!
    const length = low + Math.floor(((runLengths[part + 1]! - low) * below(1000)) / 1000)
    return (Math.max(10, Math.floor((medianS * length) / 1000)) * 1000) as DurationMs
  }
  const devices = (shape: ClassShape): readonly [devices: number, milli: number] => {
    const drawn = below(1000)
    const { fractional, pairs, quads, octets } = shape
    if (drawn < fractional) return [1, pick(fractions)]
    if (drawn < fractional + pairs) return [2, wholeGpu]
    if (drawn < fractional + pairs + quads) return [4, wholeGpu]
    return [drawn < fractional + pairs + quads + octets ? 8 : 1, wholeGpu]
  }

  const shares = classes.map(({ share }) => share)
  const drawn: Array<Omit<TraceJob, 'id'>> = []
  for (let i = 0; i < count; i++) {
    const shape = classes[weighted(shares)]!
    const submitS = (below(demoDays) * 24 + weighted(hours)) * 3600 + below(3600)
    const [gpus, milli] = devices(shape)
    const run = runMs(shape.medianS)
    // Hosts give each GPU, or its part, what goes with it.
    const parts = Math.ceil((gpus * milli) / 250)
    drawn.push({
      submitAt: (submitS * 1000) as EpochMs,
      runMs: run,
      estimateMs: askedFor(run, below(4)),
      class: shape.name,
      queue: 'default',
      team: pick(teams),
      request: {
        cpuMilli: (parts * (1 + below(3)) * 1000) as CpuMilli,
        devices: gpus,
        hostMemoryMib: (parts * (1 + below(4)) * 4096) as Mebibytes,
        memoryMib: 0 as Mebibytes,
        milli: milli as GpuMilli,
        models: null,
        span: 'node',
      },
    })
  }
  const digits = String(count).length
  return drawn
    .map((job, i) => ({ job, i }))
    .sort((a, b) => a.job.submitAt! - b.job.submitAt! || a.i - b.i)
    .map(({ job }, i) => ({ id: `${job.class}-${String(i + 1).padStart(digits, '0')}`, ...job }))
}
