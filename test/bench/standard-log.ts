import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type Sqlite from 'better-sqlite3'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Ordering, Strategy } from '../../domain/policy/allocation-policy.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { demoTrace } from '../../domain/simulation/demo-trace.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { readTrace } from '../../infra/traces/trace.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { simulate } from '../../services/decide/simulate.ts'
import { sharedFile } from './shared-file.ts'

export const stream = 'cell-bench'

export const policyOf = (ordering: Ordering, strategy: Strategy) => ({
  ...defaultPolicy,
  placement: { ...defaultPolicy.placement, strategy },
  queues: [{ name: 'default', ordering }],
})

export const rightOf = <A>(either: E.Either<unknown, A>): A => {
  if (E.isLeft(either)) throw new Error(JSON.stringify(either.left))
  return either.right
}

export interface StandardLog {
  readonly name: string
  readonly log: AuditedLog
  readonly events: number
  readonly end: () => Promise<void>
}

/** openb at 48 GPUs, greedy first-fit, repeated to so many events; the demo's demand where the trace is not there. */
export const standardLog = async (Driver: typeof Sqlite, events: number): Promise<StandardLog> => {
  const { name, jobs } = await standardJobs()
  const { log, end } = await newLog(Driver)
  const scenario = {
    jobs: repeated(jobs, Math.ceil(events / (jobs.length * 4))),
    nodes: equalNodes(6, 8),
    policy: policyOf('greedy', 'first-fit'),
    fill: false,
  }
  const done = rightOf(await simulate(log, stream, scenario, () => undefined))
  return { name, log, events: done.events, end }
}

/** A log on disk in a folder of its own; `end` removes both. */
const newLog = async (Driver: typeof Sqlite): Promise<Pick<StandardLog, 'log' | 'end'>> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const log = rightOf(await sqliteEventLog(Driver, join(folder, 'log.sqlite'))())
  const end = async (): Promise<void> => {
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { log, end }
}

export const inNewLog = async <A>(Driver: typeof Sqlite, use: (log: AuditedLog) => Promise<A>): Promise<A> => {
  const { log, end } = await newLog(Driver)
  const done = await use(log)
  await end()
  return done
}

const standardJobs = async (): Promise<{ readonly name: string; readonly jobs: ReadonlyArray<TraceJob> }> => {
  const file = sharedFile('openb/openb_pod_list_default.csv')
  if (!existsSync(file)) return { name: 'the demo at 48 GPUs (openb is not there)', jobs: demoTrace(1, 7_000) }
  const { jobs } = rightOf(await readTrace(file, { format: 'openb' }))
  return { name: 'openb at 48 GPUs', jobs: jobs.filter(({ request }) => request.devices > 0) }
}

/** The trace again and again, each time after the last of the time before. */
const repeated = (jobs: ReadonlyArray<TraceJob>, times: number): ReadonlyArray<TraceJob> => {
  const span = jobs.reduce((most, job) => Math.max(most, job.submitAt! + job.runMs!), 0) + 1_000
  return Array.from({ length: times }, (_, i) =>
    jobs.map((job) => ({
      ...job,
      id: `${job.id}.${i}`,
      submitAt: (job.submitAt! + i * span) as EpochMs,
      estimateMs: job.runMs as DurationMs,
    })),
  ).flat()
}
