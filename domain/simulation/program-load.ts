import { randomBelow } from '../kernel/random.ts'
import {
  wholeGpu,
  type CpuMilli,
  type DurationMs,
  type EpochMs,
  type GpuMilli,
  type Mebibytes,
} from '../kernel/units.ts'
import type { DrillConcluded } from '../planner/cell-event.ts'
import { unstatedTerms } from '../workload/terms.ts'
import type { ContractTerms, HoldSpan } from './contract-run.ts'
import type { ContractJob } from './job-work.ts'

/**
 * A month in which three programs each ask for two and a half times what they are entitled to, but one of them for
 * nothing on one day: what a fleet looks like that everybody wants more of. Times are UTC and begin at 1970-01-01.
 */
export const programLoad = {
  nodes: 32,
  devicesPerNode: 8,
  days: 30,
  /** Hundredths of the fleet. */
  programs: [
    { name: 'product', share: 40 },
    { name: 'platform', share: 35 },
    { name: 'research', share: 25 },
  ],
  /** It submits nothing on that day, and all its work is on hold. */
  paused: 'platform',
  /** Counted from 1. */
  pausedDay: 9,
} as const

const dayMs = 86_400_000
const minuteMs = 60_000
const { days, paused, pausedDay, programs } = programLoad
const pauseFrom = (pausedDay - 1) * dayMs

/** How much is asked for, in tenths of what the program is entitled to. */
const offeredTenths = 25
/** Hundredths of the program's part of the fleet, and of what the program asks for; training is the rest. */
const debugPercent = 2
const evaluationPercent = 10

/** Log-normal around 4 h with sigma 1: the values that cut it into 32 equal parts, ends cut off at half a hundredth. */
const trainingMedianS = 4 * 3600
const quantilesMilli = [
  ...[76, 155, 216, 268, 317, 364, 412, 460, 509, 560, 613, 669, 727, 789, 854, 925, 1000],
  ...[1082, 1170, 1268, 1375, 1495, 1630, 1784, 1963, 2174, 2428, 2746, 3159, 3736, 4637, 6441, 13_142],
]

interface Drawn {
  readonly kind: string
  readonly devices: number
  readonly runS: number
}
type Below = (bound: number) => number

const draw: { readonly [kind: string]: (below: Below) => Drawn } = {
  debug: (below) => ({ kind: 'debug', devices: 1, runS: 300 + below(601) }),
  evaluation: (below) => ({ kind: 'evaluation', devices: 1 + below(4), runS: 60 + below(3541) }),
  training: (below) => {
    const part = below(quantilesMilli.length - 1)
    const low = quantilesMilli[part]!
    const milli = low + Math.floor(((quantilesMilli[part + 1]! - low) * below(1000)) / 1000)
    return { kind: 'training', devices: 1 + below(16), runS: Math.floor((trainingMedianS * milli) / 1000) }
  },
}

/**
 * The jobs of one seed, about 65,000, in order of submission. None says how long it runs; all commit a checkpoint every
 * 30 minutes, may be evicted, and are promised 30 to 120 minutes.
 */
export const programJobs = (seed: number): ReadonlyArray<ContractJob> => {
  let state = seed
  const below: Below = (bound) => {
    const [value, next] = randomBelow(state, bound)
    state = next
    return value
  }
  const drawn: Omit<ContractJob, 'id'>[] = []
  for (const { name, share } of programs) {
    const openDays = name === paused ? days - 1 : days
    const submitAt = (): EpochMs => {
      const day = below(openDays)
      const from = (name === paused && day >= pausedDay - 1 ? day + 1 : day) * dayMs
      return (from + below(86_400) * 1000 + below(1000)) as EpochMs
    }
    const entitledS = (programLoad.nodes * programLoad.devicesPerNode * share * openDays * 86_400) / 100
    const offeredS = (entitledS * offeredTenths) / 10
    const debugS = (entitledS * debugPercent) / 100
    const evaluationS = (offeredS * evaluationPercent) / 100
    const targets = { debug: debugS, evaluation: evaluationS, training: offeredS - debugS - evaluationS }
    for (const [kind, target] of Object.entries(targets))
      for (let asked = 0; asked < target;) {
        const one = draw[kind]!(below)
        asked += one.devices * one.runS
        const minRuntimeMs = ((30 * 60 + below(90 * 60 + 1)) * 1000) as DurationMs
        drawn.push(jobOf(name, one, submitAt(), minRuntimeMs))
      }
  }
  return drawn
    .map((job, i) => ({ job, i }))
    .sort((a, b) => a.job.submitAt! - b.job.submitAt! || a.i - b.i)
    .map(({ job }, i) => ({ id: `${job.team}-${job.class}-${String(i + 1).padStart(5, '0')}`, ...job }))
}

const jobOf = (
  program: string,
  { kind, devices, runS }: Drawn,
  submitAt: EpochMs,
  minRuntimeMs: DurationMs,
): Omit<ContractJob, 'id'> => ({
  submitAt,
  runMs: (runS * 1000) as DurationMs,
  estimateMs: null,
  class: kind,
  queue: 'default',
  team: program,
  request: {
    cpuMilli: 0 as CpuMilli,
    devices,
    hostMemoryMib: 0 as Mebibytes,
    memoryMib: 0 as Mebibytes,
    milli: wholeGpu as GpuMilli,
    models: null,
    span: 'anywhere',
  },
  terms: {
    ...unstatedTerms,
    budget: program,
    preemption: {
      checkpointIntervalMs: (30 * minuteMs) as DurationMs,
      gracePeriodMs: 0 as DurationMs,
      minRuntimeMs,
      tolerated: true,
    },
    submitter: program,
  },
})

/** What goes with these jobs: everybody's checkpoints were seen to work, and the day without one program. */
export const programTerms: ContractTerms = {
  automated: true,
  drills: programs.map(({ name }): DrillConcluded => ({
    type: 'DrillConcluded',
    at: 0 as EpochMs,
    data: { modelFamily: null, outcome: 'passed', team: name },
  })),
  holds: [
    {
      from: pauseFrom as EpochMs,
      until: (pauseFrom + dayMs) as EpochMs,
      concerns: ({ team }) => team === paused,
    } satisfies HoldSpan,
  ],
  tickEveryMs: (5 * minuteMs) as DurationMs,
  until: days * dayMs,
}
