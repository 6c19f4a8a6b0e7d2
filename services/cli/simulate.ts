import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { NodeRegistered } from '../../domain/planner/cell-event.ts'
import { decodePolicy, defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import {
  orderings,
  sharingOf,
  strategies,
  type AllocationPolicy,
  type Ordering,
  type Strategy,
} from '../../domain/policy/allocation-policy.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { loadTo, mixOf } from '../../domain/simulation/load.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import { readNodeList } from '../../infra/traces/node-list.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { keepSnapshot } from '../decide/fold.ts'
import { durationText } from '../../projections/explain/wording.ts'
import type { RunFault } from '../decide/run.ts'
import { simulate, type Scenario, type Simulated } from '../decide/simulate.ts'
import { counted } from './counted.ts'
import { exitCodes, logUnavailable, VerbFailed } from './exit.ts'
import { figureColumns, figures } from './figures.ts'
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
  readonly policy?: string
  readonly staticFill?: true
  readonly loadTo?: string
  readonly seed?: string
  readonly gpuJobsOnly?: true
  /** False for `--no-views`. */
  readonly views: boolean
}

/** Registers `simulate`. */
export const registerSimulate: Register = (program, context) => {
  addTraceFlags(program.command('simulate').argument('<file>', 'a trace of jobs'))
    .description('run a trace through the decisions and the log, in compressed time')
    .option('--nodes <n>', 'fleet: so many equal nodes, without limits of CPU, memory or model')
    .option('--gpus-per-node <m>', 'devices of each of them (default: 8)')
    .option('--node-list <file>', 'fleet: CSV with sn, cpu_milli, memory_mib, gpu, model')
    .option('--ordering <ordering>', `${orderings.join(', ')} (default: the policy's, else the configuration's)`)
    .option('--placement <strategy>', `${strategies.join(', ')} (default: likewise)`)
    .option('--policy <file>', 'AllocationPolicy document (default: one queue for each that the trace names)')
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
        const scenario = await scenarioFrom(session, file, flags)
        await printSimulated(session, await runScenario(session, scenario, flags.views), untoldOf(scenario))
        return exitCodes.done
      }),
    )
}

const scenarioFrom = async (session: Session, file: string, flags: SimulateFlags): Promise<Scenario> => {
  const faults: Fault[] = []
  const count = numberBetween('--nodes', flags.nodes, 1, 100_000, faults)
  const each = numberBetween('--gpus-per-node', flags.gpusPerNode, 0, 1_024, faults) ?? 8
  const load = numberBetween('--load-to', flags.loadTo, 0.001, 100, faults, false)
  const seed = numberBetween('--seed', flags.seed, 0, 2 ** 32 - 1, faults)
  const ordering = oneOf('--ordering', flags.ordering, orderings, faults)
  const placement = oneOf('--placement', flags.placement, strategies, faults)
  const fill = flags.staticFill === true
  if ((flags.nodes === undefined) === (flags.nodeList === undefined)) {
    const reason = flags.nodes === undefined ? 'no fleet is given' : 'two fleets are given'
    faults.push({ path: '--nodes', reason, mend: 'give either --nodes N or --node-list FILE' })
  }
  if (flags.gpusPerNode !== undefined && flags.nodeList !== undefined)
    faults.push({ path: '--gpus-per-node', reason: 'the list says how many', mend: 'leave it out, or use --nodes' })
  if (flags.loadTo !== undefined && !fill)
    faults.push({ path: '--load-to', reason: 'needs a fill', mend: 'add --static-fill' })
  const trace = await traceFrom(file, flags, faults)
  const jobs = flags.gpuJobsOnly === true ? trace.jobs.filter(({ request }) => request.devices > 0) : trace.jobs
  if (!fill && jobs.some((job) => job.submitAt === null || job.runMs === null))
    refuseFlags([{ path: file, reason: 'has no times', mend: 'add --static-fill, or give a trace with times' }])
  const nodes = flags.nodeList === undefined ? equalNodes(count!, each) : await nodesFrom(flags.nodeList)
  const installed = nodes.reduce((sum, { devices }) => sum + devices * wholeGpu, 0)
  const stated = await statedPolicy(session, flags.policy, jobs)
  const policy = withFlags(stated, ordering, placement, seed, fill ? jobs : null)
  return { jobs: load === undefined ? jobs : loadTo(jobs, load * installed, seed ?? 0), nodes, policy, fill }
}

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

/** What budgets ask about and no trace tells. Null: the policy does not share by budgets. */
const untoldOf = ({ jobs, policy }: Scenario) => {
  if (sharingOf(policy) !== 'budgets') return null
  const led = new Set(policy.queues.flatMap(({ budget, name }) => (budget === undefined ? [] : [name])))
  const one = `all ${counted(jobs.length, 'job')} count as one person, \`${unstatedTerms.submitter}\`,`
  return {
    onePerson: `${one} and none may be evicted: caps per person and taking back mean nothing here`,
    misconfigured: jobs.filter(({ queue }) => !led.has(queue)).length,
  }
}

type Untold = ReturnType<typeof untoldOf>

const noteUntold = (session: Session, { misconfigured, onePerson }: NonNullable<Untold>): void => {
  session.note(`${onePerson}.`)
  if (misconfigured === 0) return
  const are = `${counted(misconfigured, 'job')} ${misconfigured === 1 ? 'is' : 'are'}`
  session.note(`${are} Misconfigured: the queue leads to no budget; add \`budget\` to it in the policy.`)
}

const printSimulated = async (session: Session, simulated: Timed, untold: Untold): Promise<void> => {
  const { report, decisions, events, wallMs, logDigest, cell } = simulated
  if (untold !== null) noteUntold(session, untold)
  if (report.waiting !== null) noteWhatWaits(session, cell)
  const all: JsonObject = { ...(report as unknown as JsonObject), ...untold, decisions, events, wallMs, logDigest }
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
const noteWhatWaits = (session: Session, { workloads }: Cell): void => {
  const byCode = new Map<string, number>()
  for (const { run, hold } of workloads.values()) {
    if (run !== null) continue
    const code = hold?.code ?? 'PendingEvaluation'
    byCode.set(code, (byCode.get(code) ?? 0) + 1)
  }
  if (byCode.size === 0) return
  const all = [...byCode.values()].reduce((sum, count) => sum + count)
  const codes = [...byCode].map(([code, count]) => `${code} ${count}`).join(', ')
  session.note(
    `${all} ${all === 1 ? 'job' : 'jobs'} never started and ${all === 1 ? 'is' : 'are'} in no figure of waits: ${codes}.`,
  )
}

/** For a person: only what has a meaning here, a line for each figure, numbers as one would say them. */
const readable = (figures: JsonObject): ReadonlyArray<readonly [string, Json]> =>
  Object.entries(figures).flatMap(([name, value]): ReadonlyArray<readonly [string, Json]> => {
    if (value === null) return []
    if (typeof value === 'object')
      return Object.entries(value as JsonObject).map(([key, each]) => [`${name}.${key}`, rounded(each)] as const)
    return [[name, rounded(value)]]
  })

const rounded = (value: Json): Json =>
  typeof value === 'number' && !Number.isInteger(value)
    ? value.toLocaleString('en-US', { maximumFractionDigits: 4 })
    : typeof value === 'number'
      ? value.toLocaleString('en-US')
      : value
