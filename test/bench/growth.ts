import { performance } from 'node:perf_hooks'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Ordering, Strategy } from '../../domain/policy/allocation-policy.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import type { SqliteDriver } from '../../infra/sqlite/event-log.ts'
import { equalNodes } from '../../services/cli/simulate.ts'
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

export const benchGrowth = async (Driver: SqliteDriver): Promise<ReadonlyArray<GrowthFigures>> => {
  const figures: GrowthFigures[] = []
  for (const strategy of ['first-fit', 'best-fit', 'fgd'] as const)
    figures.push(
      await growthOf(`nodes at 4,000 jobs, ${strategy}`, 1_000, (nodes) =>
        run(Driver, nodes, 4_000, 'greedy', strategy),
      ),
    )
  for (const ordering of ['greedy', 'fifo', 'reserve'] as const)
    figures.push(
      await growthOf(`held jobs at 10 nodes, ${ordering}`, 10_000, (jobs) =>
        run(Driver, 10, jobs, ordering, 'first-fit'),
      ),
    )
  return figures
}

const growthOf = async (name: string, from: number, run: (size: number) => Promise<number>): Promise<GrowthFigures> => {
  const sizes = [1, 2, 4, 8, 16].map((factor) => from * factor)
  const ms: number[] = []
  await run(from)
  for (const size of sizes) {
    const took: number[] = []
    for (let i = 0; i < runs; i++) took.push(await run(size))
    ms.push(quantile(took, 0.5))
  }
  return { name, sizes, ms, worst: Math.max(...ms.slice(1).map((each, i) => each / ms[i]!)) }
}

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
