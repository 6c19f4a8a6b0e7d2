import { spawnSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Ordering, Strategy } from '../../domain/policy/allocation-policy.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import type { SqliteDriver } from '../../infra/sqlite/event-log.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { simulate } from '../../services/decide/simulate.ts'
import { wholeDevices } from './held-cell.ts'
import { quantile } from './ratio.ts'
import { inNewLog, policyOf, rightOf } from './standard-log.ts'

export interface GrowthFigures {
  readonly name: string
  readonly sizes: ReadonlyArray<number>
  readonly ms: ReadonlyArray<number>
  /** The largest time ratio of one doubling. */
  readonly worst: number
}

const runs = 3
const scales = [1, 2, 4, 8, 16]

interface Series {
  readonly name: string
  readonly from: number
  readonly run: (Driver: SqliteDriver, size: number) => Promise<number>
}

const series: ReadonlyArray<Series> = [
  ...(['first-fit', 'best-fit', 'fgd'] as const).map((strategy) => ({
    name: `nodes at 4,000 jobs, ${strategy}`,
    from: 1_000,
    run: (Driver: SqliteDriver, nodes: number) => run(Driver, nodes, 4_000, 'greedy', strategy),
  })),
  ...(['greedy', 'fifo', 'reserve'] as const).map((ordering) => ({
    name: `held jobs at 10 nodes, ${ordering}`,
    from: 10_000,
    run: (Driver: SqliteDriver, jobs: number) => run(Driver, 10, jobs, ordering, 'first-fit'),
  })),
]

/** How often time grows with size, every run in a process of its own: none is slowed by what another left behind. */
export const benchGrowth = (): ReadonlyArray<GrowthFigures> =>
  series.map(({ name, from }, index) => {
    const sizes = scales.map((scale) => from * scale)
    const ms = sizes.map((size) =>
      quantile(
        Array.from({ length: runs }, () => inProcess(index, size)),
        0.5,
      ),
    )
    return { name, sizes, ms, worst: Math.max(...ms.slice(1).map((each, i) => each / ms[i]!)) }
  })

export const growthRun = 'growth-run'

const inProcess = (index: number, size: number): number => {
  const words = ['--expose-gc', process.argv[1]!, growthRun, String(index), String(size)]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return Number(stdout)
}

/** One run of one series, in this process; ms. */
export const runGrowth = (Driver: SqliteDriver, index: number, size: number): Promise<number> =>
  series[index]!.run(Driver, size)

/** Jobs of a few kinds that all come at once and run for a while: most of them are held for long. */
const run = async (
  Driver: SqliteDriver,
  nodes: number,
  count: number,
  ordering: Ordering,
  strategy: Strategy,
): Promise<number> => {
  const jobs = Array.from({ length: count }, (_, i): TraceJob => {
    const runMs = (60_000 + ((i * 7919) % 97) * 1000) as DurationMs
    const request = i % 3 === 0 ? { ...wholeDevices(1), milli: 500 as never } : wholeDevices(1 << (i % 4))
    const fixed = { class: 'default', queue: 'default', team: 'default' }
    return { id: `job-${i}`, submitAt: 0 as EpochMs, runMs, estimateMs: runMs, request, ...fixed }
  })
  const scenario = { jobs, nodes: equalNodes(nodes, 8), policy: policyOf(ordering, strategy), fill: false }
  return inNewLog(Driver, async (log) => {
    globalThis.gc?.()
    const start = performance.now()
    rightOf(await simulate(log, 'cell-bench', scenario, () => undefined))
    return performance.now() - start
  })
}
