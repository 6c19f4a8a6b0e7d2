import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { decoding } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { duration } from '../../domain/kernel/quantity.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { NodeRegistered } from '../../domain/planner/cell-event.ts'
import { decodePolicy, defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import {
  orderings,
  strategies,
  type AllocationPolicy,
  type Ordering,
  type Strategy,
} from '../../domain/policy/allocation-policy.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { decodeScenario } from '../../domain/simulation/scenario.codec.ts'
import { loadTo, mixOf } from '../../domain/simulation/load.ts'
import { wholeGpu, type DurationMs } from '../../domain/kernel/units.ts'
import { declaring, type TraceJob, type UsualTerms } from '../../domain/simulation/trace-job.ts'
import { readNodeList } from '../../infra/traces/node-list.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { keepSnapshot } from '../decide/fold.ts'
import { durationText } from '../../projections/explain/wording.ts'
import type { RunFault } from '../decide/run.ts'
import { simulate, type Scenario, type Simulated } from '../decide/simulate.ts'
import { printCompared, type ComparedRun } from './simulate-compared.ts'
import { noteUntold, untoldOf, type Untold } from './simulate-untold.ts'
import { exitCodes, logUnavailable, VerbFailed } from './exit.ts'
import { figureColumns, figures, said } from './figures.ts'
import { snapshotsOf } from './snapshots.ts'
import { withClaimedLog } from './opened-log.ts'
import { loadViews } from './load-views.ts'
import type { JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import {
  addTraceFlags,
  fileFailed,
  numberBetween,
  oneOf,
  refuseFlags,
  traceFrom,
  type TraceFlags,
} from './trace-options.ts'

interface SimulateFlags extends TraceFlags {
  readonly nodes?: string
  readonly gpusPerNode?: string
  readonly nodeList?: string
  readonly ordering?: string
  readonly placement?: string
  readonly policy: ReadonlyArray<string>
  readonly preemptible?: true
  readonly checkpoint?: string
  readonly minRuntime?: string
  readonly staticFill?: true
  readonly loadTo?: string
  readonly seed?: string
  readonly gpuJobsOnly?: true
  /** False for `--no-views`. */
  readonly views: boolean
}

/** Registers `simulate`. */
export const registerSimulate: Register = (program, context) => {
  addTraceFlags(program.command('simulate').argument('<file>', 'a trace of jobs, or a scenario (.yaml)'))
    .description('run a trace through the decisions and the log, in compressed time')
    .option(
      '--nodes <n>',
      'fleet: so many equal nodes, without limits of CPU, memory or model (default: that of the scenario)',
    )
    .option('--gpus-per-node <m>', 'devices of each of them (default: 8)')
    .option('--node-list <file>', 'fleet: CSV with sn, cpu_milli, memory_mib, gpu, model')
    .option('--ordering <ordering>', `${orderings.join(', ')} (default: the policy's, else the configuration's)`)
    .option('--placement <strategy>', `${strategies.join(', ')} (default: likewise)`)
    .option(
      '--policy <file>',
      'AllocationPolicy document (default: one queue for each that the trace names); several: one run for each, side by side',
      (file: string, before: ReadonlyArray<string>) => [...before, file],
      [],
    )
    .option('--preemptible', 'jobs of which the trace does not say may be evicted (default: may not)')
    .option('--checkpoint <duration>', 'what they go on from is as old as that at most (default: they begin anew)')
    .option('--min-runtime <duration>', 'for so long they are not evicted (default: 0s)')
    .option('--static-fill', 'all jobs at once in file order, times ignored, nothing leaves')
    .option('--load-to <x>', 'with --static-fill: shuffle, and go on until x times the fleet is requested')
    .option('--seed <s>', 'for --load-to and for random placement (default: 0)')
    .option('--no-views', 'do not load the views of a log that is kept; they are loaded when first asked')
    .option('--gpu-jobs-only', 'leave out jobs that ask for no GPU')
    .addHelpText(
      'after',
      '\nWithout --data (or LEASEHOLD_DATA, or a configuration that names a folder) the log is kept in\n' +
        'memory and goes with the run. Run again on the same folder, an interrupted simulation goes\non where it was.',
    )
    .action(
      verb(context, async (session, file: string, flags: SimulateFlags) => {
        const scenarios = await scenariosFrom(session, file, flags)
        const [scenario] = scenarios
        if (scenarios.length > 1) await printCompared(session, await runEach(session, scenarios), untoldOf(scenario!))
        else await printSimulated(session, await runScenario(session, scenario!, flags.views), untoldOf(scenario!))
        return exitCodes.done
      }),
    )
}

const scenariosFrom = async (
  session: Session,
  file: string,
  flags: SimulateFlags,
): Promise<ReadonlyArray<Scenario>> => {
  const faults: Fault[] = []
  const count = numberBetween('--nodes', flags.nodes, 1, 100_000, faults)
  const each = numberBetween('--gpus-per-node', flags.gpusPerNode, 0, 1_024, faults) ?? 8
  const load = numberBetween('--load-to', flags.loadTo, 0.001, 100, faults, false)
  const seed = numberBetween('--seed', flags.seed, 0, 2 ** 32 - 1, faults)
  const ordering = oneOf('--ordering', flags.ordering, orderings, faults)
  const placement = oneOf('--placement', flags.placement, strategies, faults)
  const fill = flags.staticFill === true
  const usual = usualTerms(flags, faults)
  const isScenario = flags.format === undefined && /\.ya?ml$/.test(file)
  const given = [flags.nodes, flags.nodeList].filter((each) => each !== undefined).length
  if (given === 2 || (given === 0 && !isScenario)) {
    const reason = given === 0 ? 'no fleet is given' : 'two fleets are given'
    faults.push({ path: '--nodes', reason, mend: 'give either --nodes N or --node-list FILE' })
  }
  if (flags.gpusPerNode !== undefined && flags.nodes === undefined && (flags.nodeList !== undefined || isScenario)) {
    const reason = `the ${flags.nodeList === undefined ? 'scenario' : 'list'} says how many`
    faults.push({ path: '--gpus-per-node', reason, mend: 'leave it out, or use --nodes' })
  }
  if (flags.loadTo !== undefined && !fill)
    faults.push({ path: '--load-to', reason: 'needs a fill', mend: 'add --static-fill' })
  if (flags.policy.length > 1 && session.origins.data === '--data')
    faults.push({ path: '--data', reason: 'keeps the log of one run', mend: 'leave it out, or give one --policy' })
  const trace = isScenario
    ? await statedFrom(file, flags, faults)
    : { ...(await traceFrom(file, flags, faults)), nodes: [] }
  const wanted = flags.gpuJobsOnly === true ? trace.jobs.filter(({ request }) => request.devices > 0) : trace.jobs
  const jobs = usual === null ? wanted.map(stated) : wanted.map((job) => declaring(job, usual))
  if (!fill && jobs.some((job) => job.submitAt === null || job.runMs === null))
    refuseFlags([{ path: file, reason: 'has no times', mend: 'add --static-fill, or give a trace with times' }])
  const nodes =
    flags.nodeList !== undefined
      ? await nodesFrom(flags.nodeList)
      : count !== undefined
        ? equalNodes(count, each)
        : trace.nodes
  const installed = nodes.reduce((sum, { devices }) => sum + devices * wholeGpu, 0)
  const files = flags.policy.length === 0 ? [undefined] : flags.policy
  const policies: AllocationPolicy[] = []
  for (const each of files)
    policies.push(withFlags(await statedPolicy(session, each, jobs), ordering, placement, seed, fill ? jobs : null))
  const programsOf = policies.find(({ budgets }) => budgets !== undefined)
  const loaded = load === undefined ? jobs : loadTo(jobs, load * installed, seed ?? 0)
  return policies.map((policy) => ({ jobs: loaded, nodes, policy, fill, ...(programsOf && { programsOf }) }))
}

/** Jobs, and the fleet unless flags state another. */
interface Stated {
  readonly jobs: ReadonlyArray<TraceJob>
  readonly nodes: ReadonlyArray<NodeRegistered['data']>
}

const statedFrom = async (file: string, { map, timeUnit }: SimulateFlags, faults: Fault[]): Promise<Stated> => {
  for (const [flag, value] of Object.entries({ '--map': map, '--time-unit': timeUnit }))
    if (value !== undefined)
      faults.push({ path: flag, reason: 'says what columns mean, and a scenario has none', mend: 'leave it out' })
  refuseFlags(faults)
  const read = await readDocumentFile(file, decodeScenario)()
  if (E.isRight(read)) return read.right
  throw fileFailed(read.left)
}

/** What is said of jobs of which the trace does not say; null: nothing is. */
const usualTerms = (flags: SimulateFlags, faults: Fault[]): UsualTerms | null => {
  const { checkpoint, minRuntime, preemptible } = flags
  const usual = {
    checkpointIntervalMs: durationFrom('--checkpoint', checkpoint, 1, faults),
    minRuntimeMs: durationFrom('--min-runtime', minRuntime, 0, faults),
    preemptible: preemptible ?? null,
  }
  return Object.values(usual).every((value) => value === null) ? null : usual
}

const durationFrom = (flag: string, text: string | undefined, minMs: number, faults: Fault[]): DurationMs | null => {
  if (text === undefined) return null
  const read = decoding(duration(minMs))(text)
  if (E.isRight(read)) return read.right
  faults.push(...read.left.map(({ mend, reason }) => ({ path: flag, reason, mend })))
  return null
}

const nothingUsual: UsualTerms = { checkpointIntervalMs: null, minRuntimeMs: null, preemptible: null }
/** Left as it is where the trace has no column for what a job declares. */
const stated = (job: TraceJob): TraceJob => (job.stated === undefined ? job : declaring(job, nothingUsual))

const nodesFrom = async (file: string): Promise<ReadonlyArray<NodeRegistered['data']>> => {
  const read = await readNodeList(file)
  if (E.isLeft(read)) throw fileFailed(read.left)
  return read.right
}

/** The document, or one that has a queue for each that the trace names, as the configuration orders them. */
const statedPolicy = async (
  { configuration }: Session,
  file: string | undefined,
  jobs: ReadonlyArray<TraceJob>,
): Promise<AllocationPolicy> => {
  if (file === undefined) {
    const names = [...new Set(jobs.map((job) => job.queue))]
    const queues = names.map((name) => ({ name, ordering: configuration.ordering }))
    return { ...defaultPolicy, queues, placement: { ...defaultPolicy.placement, strategy: configuration.placement } }
  }
  const read = await readDocumentFile(file, decodePolicy)()
  if (E.isRight(read)) return read.right
  throw fileFailed(read.left)
}

/** Flags win over the document. In a fill, fragmentation is measured against the whole list unless the policy has a mix. */
const withFlags = (
  policy: AllocationPolicy,
  ordering: Ordering | undefined,
  strategy: Strategy | undefined,
  seed: number | undefined,
  filled: ReadonlyArray<TraceJob> | null,
): AllocationPolicy => {
  const placement = {
    ...policy.placement,
    ...(strategy !== undefined && { strategy }),
    ...(seed !== undefined && { seed }),
  }
  const measured = filled !== null && placement.strategy === 'fgd' && placement.mix === null
  return {
    ...policy,
    placement: measured ? { ...placement, mix: mixOf(filled) } : placement,
    queues: ordering === undefined ? policy.queues : policy.queues.map((queue) => ({ ...queue, ordering })),
  }
}

type Timed = Simulated & { readonly wallMs: number }

const timed = async (work: () => Promise<Simulated>): Promise<Timed> => {
  const start = performance.now()
  const done = await work()
  return { ...done, wallMs: Math.round(performance.now() - start) }
}

/** Runs a scenario on the session's log, or in memory where nobody named a folder. */
const runScenario = async (session: Session, scenario: Scenario, views: boolean): Promise<Timed> =>
  session.origins.data === 'default'
    ? timed(() => runOn(session, memoryEventLog(), scenario))
    : withClaimedLog(session, 'simulate', async (log) => {
        const simulated = await timed(() => runOn(session, log, scenario))
        await keepSnapshot(log, simulated.cell, snapshotsOf(session))
        if (views) await loadViews(session, log)
        return simulated
      })

/** One after another, each in memory. */
const runEach = async (session: Session, scenarios: ReadonlyArray<Scenario>): Promise<ReadonlyArray<ComparedRun>> => {
  const runs: ComparedRun[] = []
  for (const scenario of scenarios) {
    const { name } = scenario.policy
    const before = runs.filter(({ policy }) => policy === name || policy.startsWith(`${name} (`)).length
    const { cell, decisions, events, logDigest, report, shared, wallMs } = await timed(() =>
      runOn(session, memoryEventLog(), scenario),
    )
    const policy = before === 0 ? name : `${name} (${before + 1})`
    runs.push({ policy, report, shared, decisions, events, wallMs, logDigest, neverStarted: notesOnWhatWaits(cell) })
  }
  return runs
}

export const runOn = async (session: Session, log: EventLog, scenario: Scenario): Promise<Simulated> => {
  const progress = session.progress('jobs', scenario.jobs.length)
  try {
    const simulated = await simulate(log, session.configuration.cell, scenario, progress.at)
    if (E.isLeft(simulated)) throw runFailed(simulated.left)
    return simulated.right
  } finally {
    progress.stop()
  }
}

const runFailed = (fault: RunFault): VerbFailed => {
  switch (fault.type) {
    case 'LogUnavailable':
      return logUnavailable(fault)
    case 'HistoryDiffers': {
      const place = `event ${fault.revision} of ${fault.stream}`
      return new VerbFailed(
        exitCodes.failed,
        `the folder holds the log of another run, which differs at ${place}; name another folder with --data`,
      )
    }
    case 'RunRejected':
      return new VerbFailed(
        exitCodes.usage,
        `the trace cannot run: ${fault.rejection.type} ${JSON.stringify(fault.input.data)}`,
      )
    case 'WrongExpectedRevision':
    case 'DuplicateId':
      return new VerbFailed(
        exitCodes.failed,
        'another process writes to this log; stop it, or name another folder with --data',
      )
  }
}

const printSimulated = async (session: Session, simulated: Timed, untold: Untold): Promise<void> => {
  const { report, shared, decisions, events, wallMs, logDigest, cell } = simulated
  noteUntold(session, untold)
  if (report.waiting !== null) for (const note of notesOnWhatWaits(cell)) session.note(note)
  const figuresOfAll = { ...report, ...shared } as unknown as JsonObject
  const all: JsonObject = { ...figuresOfAll, ...untold, decisions, events, wallMs, logDigest }
  if (session.style.format === 'csv') return session.printRows(figures(all), figureColumns)
  if (session.style.format !== 'table') return session.printObject(all)
  // A person has read who counts as one.
  await session.printObject(Object.fromEntries(readable({ ...all, onePerson: null })))
  if (session.origins.data === 'default') session.note('The log was not kept: add --data FOLDER to keep it.')
  else if (report.maxWaitJob !== null) {
    const { maxWaitJob: id, maxWaitS, maxWaitFromS } = report
    const halfWay = Math.floor(maxWaitFromS! * 1000 + maxWaitS! * 500)
    session.note(`${id} waited longest, ${durationText(maxWaitS! * 1000)}. Why, half-way through:`)
    session.note(`  leasehold why ${id} --at ${halfWay} --data ${session.configuration.data}`)
  }
}

/** What no figure shows: jobs that still wait when nothing more can happen, and why. */
const notesOnWhatWaits = ({ workloads }: Cell): ReadonlyArray<string> => {
  const byCode = new Map<string, number>()
  for (const { run, hold } of workloads.values()) {
    if (run !== null) continue
    const code = hold?.code ?? 'PendingEvaluation'
    byCode.set(code, (byCode.get(code) ?? 0) + 1)
  }
  if (byCode.size === 0) return []
  const all = [...byCode.values()].reduce((sum, count) => sum + count)
  const codes = [...byCode].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`)
  return [
    `${all} ${all === 1 ? 'job' : 'jobs'} never started and ${all === 1 ? 'is' : 'are'} in no figure of waits: ${codes.join(', ')}.`,
  ]
}

/** For a person: only what has a meaning here, a line for each figure, numbers as one would say them. */
const readable = (all: JsonObject): ReadonlyArray<readonly [string, Json]> =>
  figures(all).flatMap(({ name, value }) => (value === null ? [] : [[name, said(value)] as const]))
