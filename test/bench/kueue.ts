import { performance } from 'node:perf_hooks'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Run } from '../../domain/simulation/run.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import type { SqliteDriver } from '../../infra/sqlite/event-log.ts'
import { CellRecorder } from '../../services/decide/cell-recorder.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { runThrough } from '../../services/decide/run.ts'
import { verifyReplay } from '../../services/replay/verify.ts'
import { kueueArrivals, kueueRun } from './kueue-run.ts'
import { kueueShape, nominalDevices, perQueue } from './kueue-shape.ts'
import { inNewLog, rightOf, stream } from './standard-log.ts'

export interface KueueFigures {
  readonly workloads: number
  readonly queues: number
  readonly cohorts: number
  /** One for each device of nominal quota, so that a place is found for whatever quota admits. */
  readonly devices: number
  readonly atOnce: boolean
  readonly admitted: number
  readonly evicted: number
  readonly events: number
  readonly wallMs: number
  readonly decisionsPerS: number
  readonly verifyMs: number | null
}

const devicesPerNode = 8

/**
 * Every workload that is admitted, and every attempt that is evicted, is a decision and an event of its own. From the first
 * submission to the end of the last workload, with all of it durable in SQLite.
 */
export const benchKueue = (
  Driver: SqliteDriver,
  cohorts: number,
  queuesPerCohort: number,
  atOnce: boolean,
  verify: boolean,
): Promise<KueueFigures> =>
  inNewLog(Driver, async (log) => {
    const queues = cohorts * queuesPerCohort
    const devices = queues * nominalDevices
    const arrivals = kueueArrivals(queues, atOnce)
    const recording = { stream, source: 'bench', actor: 'bench', recordTime: (at: EpochMs) => at }
    const recorder = new CellRecorder(log, recording, 0)
    rightOf(await runThrough(recorder, fleetOf(devices, cohorts, queuesPerCohort), () => undefined))
    globalThis.gc?.()
    const start = performance.now()
    let [admitted, evicted, ended] = [0, 0, 0]
    rightOf(
      await runThrough(recorder, kueueRun(arrivals), (input, decisions) => {
        if (input.type === 'AttemptEnded') ended++
        for (const { type } of decisions) {
          if (type === 'WorkloadAdmitted') admitted++
          else if (type === 'AttemptStopped') evicted++
        }
      }),
    )
    const wallMs = performance.now() - start
    if (ended !== queues * perQueue) throw new Error(`${ended} of ${queues * perQueue} workloads have ended`)
    const verifyFrom = performance.now()
    if (verify && !rightOf(await verifyReplay(log, stream)).ok) throw new Error('the replay differs')
    return {
      workloads: arrivals.length,
      queues,
      cohorts,
      devices,
      atOnce,
      admitted,
      evicted,
      events: recorder.events,
      wallMs,
      decisionsPerS: ((admitted + evicted) * 1000) / wallMs,
      verifyMs: verify ? performance.now() - verifyFrom : null,
    }
  })

function* fleetOf(devices: number, cohorts: number, queuesPerCohort: number): Run {
  const at = 0 as EpochMs
  for (const data of equalNodes(devices / devicesPerNode, devicesPerNode)) yield { type: 'NodeRegistered', at, data }
  yield policyActivated(kueueShape(cohorts, queuesPerCohort), at)
}
