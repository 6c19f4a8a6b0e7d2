import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { NodeRegistered } from '../../domain/planner/cell-event.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { staticFill, timedRun, type Run } from '../../domain/simulation/run.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import { streamSize } from '../../infra/chain/chain-head.ts'
import { logDigest } from '../../infra/chain/log-digest.ts'
import { SimulationLedger, type SimulationReport } from '../../projections/simulation/report.ts'
import { CellRecorder } from './cell-recorder.ts'
import { policyActivated } from './policy-activated.ts'
import { runThrough, type RunFault } from './run.ts'

/** A trace, a fleet and a policy: all that a simulation depends on. */
export interface Scenario {
  readonly jobs: ReadonlyArray<TraceJob>
  readonly nodes: ReadonlyArray<NodeRegistered['data']>
  readonly policy: AllocationPolicy
  /** All jobs at once, and nothing leaves; else by time. */
  readonly fill: boolean
}

export interface Simulated {
  readonly report: SimulationReport
  readonly decisions: number
  readonly events: number
  readonly logDigest: string
  readonly cell: Cell
}

/**
 * Runs a scenario through the log, from its first event on. Where the stream holds the beginning of this very run, it
 * goes on from there.
 * @param seen told now and then how many jobs have come
 */
export const simulate = async (
  log: EventLog,
  stream: string,
  scenario: Scenario,
  seen: (jobs: number) => void,
): Promise<E.Either<RunFault, Simulated>> => {
  const size = await streamSize(log, stream)()
  if (E.isLeft(size)) return size
  const digest = logDigest()
  const recording = { stream, source: 'simulate', actor: 'simulate', recordTime: (at: EpochMs) => at }
  const recorder = new CellRecorder(log, recording, size.right, digest.add)
  const ledger = new SimulationLedger()
  let jobs = 0
  const ran = await runThrough(recorder, scenarioRun(scenario), (input, decisions) => {
    ledger.follow(input, decisions, recorder.cell)
    if (input.type === 'WorkloadSubmitted' && ++jobs % 100 === 0) seen(jobs)
  })
  if (E.isLeft(ran)) return ran
  const { cell, decisions, events } = recorder
  const report = scenario.fill ? ledger.filled(cell.fleet) : ledger.timed(cell.fleet)
  return E.right({ report, decisions, events, logDigest: digest.value(), cell })
}

function* scenarioRun({ nodes, policy, jobs, fill }: Scenario): Run {
  const at = 0 as EpochMs
  for (const data of nodes) yield { type: 'NodeRegistered', at, data }
  yield policyActivated(policy, at)
  yield* fill ? staticFill(jobs) : timedRun(jobs)
}
