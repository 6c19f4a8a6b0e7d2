import { either as E } from 'fp-ts'
import { wholeGpu, type DurationMs, type EpochMs } from '../../domain/kernel/units.ts'
import type { DrillConcluded, NodeRegistered } from '../../domain/planner/cell-event.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { contractOf, standingOf, type AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { contractRun, type ContractTerms } from '../../domain/simulation/contract-run.ts'
import type { ContractJob } from '../../domain/simulation/job-work.ts'
import { staticFill, timedRun, type Run } from '../../domain/simulation/run.ts'
import { estimated, type TraceJob } from '../../domain/simulation/trace-job.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { streamSize } from '../../infra/chain/chain-head.ts'
import { logDigest } from '../../infra/chain/log-digest.ts'
import { Evictions } from '../../projections/simulation/evictions.ts'
import { ProgramDelivery, type ProgramFigures } from '../../projections/simulation/program-delivery.ts'
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
  /** The policy whose budget tree says which programs there are and what they are owed; absent: nobody asks. */
  readonly programsOf?: AllocationPolicy
}

/** Of a run by time in which some make room for others, or of which programs are asked for. */
export interface SharedFigures {
  /** Empty: there is no budget tree. */
  readonly programs: { readonly [program: string]: ProgramFigures }
  readonly evictions: number
  /** Work that had to be done again. */
  readonly lostGpuHours: number
}

export interface Simulated {
  readonly report: SimulationReport
  readonly shared: SharedFigures | null
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
  const { fill, nodes, policy, programsOf = policy } = scenario
  const delivery = new ProgramDelivery(
    programsOf,
    nodes.reduce((sum, { devices }) => sum + devices, 0),
  )
  const evictions = new Evictions()
  let jobs = 0
  const ran = await runThrough(recorder, scenarioRun(scenario, stream), (input, decisions) => {
    ledger.follow(input, decisions, recorder.cell)
    if (!fill) {
      delivery.follow(input, decisions)
      evictions.follow(input, decisions)
    }
    if (input.type === 'WorkloadSubmitted' && ++jobs % 100 === 0) seen(jobs)
  })
  if (E.isLeft(ran)) return ran
  const { cell, decisions, events } = recorder
  const report = fill ? ledger.filled(cell.fleet) : ledger.timed(cell.fleet)
  const isShared = !fill && (programsOf.budgets !== undefined || scenario.jobs.some(makesRoom))
  const lostGpuHours = evictions.lost / (wholeGpu * hourMs)
  const shared = isShared ? { programs: delivery.figures(), evictions: evictions.all.length, lostGpuHours } : null
  return E.right({ report, shared, decisions, events, logDigest: digest.value(), cell })
}

function* scenarioRun({ nodes, policy, jobs, fill }: Scenario, cell: string): Run {
  const at = 0 as EpochMs
  for (const data of nodes) yield { type: 'NodeRegistered', at, data }
  yield policyActivated(policy, at)
  if (fill) yield* staticFill(jobs)
  else if (jobs.some(makesRoom)) yield* contractRun(contractJobs(jobs), contractTerms(jobs, policy, cell))
  else yield* timedRun(jobs)
}

const makesRoom = ({ terms }: TraceJob): boolean => terms?.preemption.tolerated === true

const contractJobs = (jobs: ReadonlyArray<TraceJob>): ReadonlyArray<ContractJob> =>
  estimated(jobs).map((job) => ({ ...job, terms: job.terms ?? unstatedTerms }))

/** Whoever may be evicted has passed its drill, and does so again before that no longer counts. */
const contractTerms = (jobs: ReadonlyArray<TraceJob>, policy: AllocationPolicy, cell: string): ContractTerms => {
  const teams = [...new Set(jobs.filter(makesRoom).map(({ team }) => team))].sort()
  const last = jobs.reduce((latest, { submitAt }) => Math.max(latest, submitAt!), 0)
  const drills: DrillConcluded[] = []
  for (let at = 0; at <= last; at += contractOf(policy).drillValidMs)
    for (const team of teams)
      drills.push({ type: 'DrillConcluded', at: at as EpochMs, data: { modelFamily: null, outcome: 'passed', team } })
  return { automated: standingOf(policy, cell) === 'automate', drills, holds: [], tickEveryMs, until: Infinity }
}

const hourMs = 3_600_000
/** How often what time alone makes due is looked at. */
const tickEveryMs = 60_000 as DurationMs
