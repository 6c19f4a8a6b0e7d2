import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { WorkloadAdmitted } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { Ordering, Strategy } from '../../domain/policy/allocation-policy.ts'
import {
  demoDays,
  demoGpusPerNode,
  demoJobs,
  demoNodes,
  demoSeed,
  demoTrace,
} from '../../domain/simulation/demo-trace.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { headOf } from '../../infra/chain/chain-head.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { durationText, instantText } from '../../projections/explain/wording.ts'
import { whyText } from '../../projections/explain/why-text.ts'
import { whyWithHints, type Why } from '../../projections/explain/why.ts'
import { foldCell } from '../decide/fold.ts'
import type { Scenario, Simulated } from '../decide/simulate.ts'
import { verifyReplay } from '../replay/verify.ts'
import { exitCodes } from './exit.ts'
import { fromLog, withClaimedLog } from './opened-log.ts'
import { renderRows, terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { runOn } from './simulate.ts'
import { storedEvents } from './workload-events.ts'

/** Registers `demo`. */
export const registerDemo: Register = (program, context) => {
  program
    .command('demo')
    .description(
      `${demoDays} days of made-up demand on ${demoNodes * demoGpusPerNode} GPUs: decided, explained, verified`,
    )
    .action(verb(context, demo))
}

/** Ways to run the same demand, worst first; the last is the one that is kept and explained. */
const ways: ReadonlyArray<{ readonly name: string; readonly ordering: Ordering; readonly placement: Strategy }> = [
  { name: 'first come, first served', ordering: 'fifo', placement: 'first-fit' },
  { name: 'whatever fits goes', ordering: 'greedy', placement: 'best-fit' },
  { name: 'with a place kept for the head', ordering: 'reserve', placement: 'best-fit' },
]

const demo = async (session: Session) => {
  const folder =
    session.origins.data === 'default' ? join(session.configuration.data, 'demo') : session.configuration.data
  if (session.origins.data === 'default') rmSync(folder, { recursive: true, force: true })
  const kept: Session = { ...session, configuration: { ...session.configuration, data: folder } }
  const scenarios = ways.map(({ ordering, placement }) => scenarioOf(ordering, placement))
  const runs: Simulated[] = []
  for (const scenario of scenarios.slice(0, -1)) runs.push(await runOn(kept, memoryEventLog(), scenario))
  return withClaimedLog(kept, 'demo', async (log) => {
    runs.push(await runOn(kept, log, scenarios.at(-1)!))
    const example = await longestWait(kept, log)
    const found = await explained(kept, log, example, runs)
    if (session.style.format === 'table') await session.write(demoText(session, found, folder))
    else await session.printObject(found as unknown as JsonObject)
    return exitCodes.done
  })
}

const scenarioOf = (ordering: Ordering, strategy: Strategy): Scenario => ({
  jobs: demoTrace(demoSeed),
  nodes: equalNodes(demoNodes, demoGpusPerNode),
  policy: {
    ...defaultPolicy,
    name: 'demo',
    placement: { ...defaultPolicy.placement, strategy },
    queues: [{ name: 'default', ordering }],
  },
  fill: false,
})

const longestWait = async (session: Session, log: AuditedLog): Promise<WorkloadAdmitted> => {
  let longest: WorkloadAdmitted | null = null
  for await (const { message } of storedEvents(session, log)) {
    if (message.type !== 'WorkloadAdmitted') continue
    const admitted = message as unknown as WorkloadAdmitted
    if (longest === null || admitted.data.waitedMs > longest.data.waitedMs) longest = admitted
  }
  return longest!
}

const explained = async (
  session: Session,
  log: AuditedLog,
  { at, data }: WorkloadAdmitted,
  runs: ReadonlyArray<Simulated>,
) => {
  const { cell: stream } = session.configuration
  const asked = Math.floor((at - data.waitedMs / 2) / 1000) * 1000
  const { cell } = fromLog(await foldCell(log, stream, { until: asked as EpochMs }))
  const why = whyWithHints(cell, data.workload)!
  const { events, logDigest } = runs.at(-1)!
  const replay = fromLog(await verifyReplay(log, stream))
  const { size, hash } = fromLog(await headOf(log)())
  return {
    ways: ways.map(({ name, ordering, placement }, i) => {
      const { waiting, meanWaitS, maxWaitS, meanWaitByGpus, util } = runs[i]!.report
      return {
        name,
        ordering,
        placement,
        waiting,
        meanWaitS,
        maxWaitS,
        meanWait8GpusS: meanWaitByGpus?.['8'] ?? null,
        util,
      }
    }),
    asked,
    why,
    startedAt: at,
    events,
    logDigest,
    replayed: replay.ok,
    decisions: replay.decisions,
    head: `${size}:${hash}`,
  }
}
type Demo = Awaited<ReturnType<typeof explained>>

const demoText = ({ style }: Session, found: Demo, folder: string): string => {
  const { asked, decisions, events, head, replayed, startedAt, ways: compared, why } = found
  const seconds = (value: number | null) => durationText((value ?? 0) * 1000)
  const table = renderRows(
    compared,
    [
      { name: 'ordering', value: (way) => way.ordering },
      { name: 'placement', value: (way) => way.placement },
      { name: 'jobs that waited', value: (way) => way.waiting },
      { name: 'mean wait', value: (way) => seconds(way.meanWaitS), align: 'right' },
      { name: 'of 8-GPU jobs', value: (way) => seconds(way.meanWait8GpusS), align: 'right' },
      { name: 'longest', value: (way) => seconds(way.maxWaitS), align: 'right' },
    ],
    style,
  )
  const at = `--data ${folder}`
  return `
${demoDays} days, ${demoJobs} jobs, ${demoNodes * demoGpusPerNode} GPUs: the same demand under three policies.

${table}
Why did ${why.workload} wait? Asked half-way through its wait:

${indented(whyText(why))}
It started ${instantText(startedAt)}${projectionError(why, startedAt)}.

${events} events are in ${folder}.
${replayed ? `All ${decisions} decisions, decided again from their inputs, came out the same.` : 'THE REPLAY DIFFERS: see `leasehold replay verify`.'}

Try next:
  npx leasehold why ${why.workload} --at ${asked} ${at}
  npx leasehold queue --at ${asked} ${at}
  npx leasehold log ${why.workload} ${at}
  npx leasehold decisions --type WorkloadHeld ${at}
  npx leasehold audit verify --head ${head} ${at}
  npx leasehold simulate --help
`
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${terminalSafe(line)}\n`)
    .join('')

/** ` (1 h 4 min later than projected then)` */
const projectionError = (why: Why, startedAt: EpochMs): string => {
  const projected = why.state === 'waiting' ? why.projectedStartAt : null
  if (projected === null) return ''
  if (projected === startedAt) return ', as projected'
  return ` (${durationText(Math.abs(startedAt - projected))} ${startedAt < projected ? 'earlier' : 'later'} than projected then)`
}
