import { randomBelow, type RandomState } from '../../../domain/kernel/random.ts'
import type { DurationMs } from '../../../domain/kernel/units.ts'

/** What decides how the pretended jobs go. */
export interface Script {
  /** Any whole number. */
  readonly seed: number
  /** How many times faster than the clock jobs start, run and stop. */
  readonly speedUp: number
  /** Of 1,000 jobs, so many fail some way through. */
  readonly failsPerMille: number
  /** Of 1,000 starts, so many do not succeed. */
  readonly startFailsPerMille: number
}

/** A fleet that is only pretended, and how its jobs go. */
export interface Pretended {
  readonly script: Script
  /** Registered where the log has no node yet. */
  readonly nodes: number
  readonly gpusPerNode: number
}

export const defaultScript: Script = { seed: 0, speedUp: 1, failsPerMille: 20, startFailsPerMille: 10 }

/** How one attempt goes, in ms of the clock. */
export interface Course {
  readonly startMs: DurationMs
  readonly startFails: boolean
  /** From its start to its end, if nothing comes in between. */
  readonly runMs: DurationMs
  readonly fails: boolean
  readonly checkpointMs: DurationMs
  readonly stopMs: DurationMs
}

/** Of a job whose submitter said nothing: 1 to 10 minutes. */
const unstatedMinMs = 60_000
const unstatedSpreadMs = 540_000

/**
 * The same seed, workload and attempt go the same, whenever and wherever.
 * @param estimateMs how long it is expected to run: it takes half of that to 1.1 times as long
 */
export const courseOf = (script: Script, workload: string, attempt: number, estimateMs: number | null): Course => {
  let state = stateFrom(`${script.seed}/${workload}/${attempt}`)
  const below = (bound: number): number => {
    const [value, next] = randomBelow(state, bound)
    state = next
    return value
  }
  const real = (ms: number): DurationMs => Math.max(1, Math.round(ms / script.speedUp)) as DurationMs
  const startMs = real(200 + below(1_800))
  const startFails = below(1_000) < script.startFailsPerMille
  const fails = below(1_000) < script.failsPerMille
  const wholeMs =
    estimateMs === null ? unstatedMinMs + below(unstatedSpreadMs) : (estimateMs * (500 + below(601))) / 1_000
  const runMs = real(fails ? (wholeMs * (1 + below(1_000))) / 1_000 : wholeMs)
  return { startMs, startFails, runMs, fails, checkpointMs: real(500 + below(4_500)), stopMs: real(100 + below(2_900)) }
}

/** FNV-1a over the text's UTF-16 units. */
const stateFrom = (text: string): RandomState => {
  let sum = 0x811c9dc5
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return sum | 0
}
