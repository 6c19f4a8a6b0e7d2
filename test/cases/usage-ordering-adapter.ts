import { billedMilli } from '../../domain/fairness/billing.ts'
import { bySeniority } from '../../domain/fairness/candidate.ts'
import { DecayedUsage } from '../../domain/fairness/decayed-usage.ts'
import { FairTreeLedger } from '../../domain/fairness/fair-tree-ledger.ts'
import type { FairTreeNode } from '../../domain/fairness/fair-tree.ts'
import { factorOf, shownAmount } from '../../domain/fairness/fixed-point.ts'
import { PendingDebits } from '../../domain/fairness/pending-debits.ts'
import { PeriodDecay, slurmPeriodSeconds } from '../../domain/fairness/period-decay.ts'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Adapter } from './adapters.ts'
import { usageOrderedCycles } from './usage-ordering-cycles.ts'
import {
  candidateOf,
  orderingOf,
  type ResourceAmounts,
  type SubQueuesJson,
  type WaitingJson,
} from './usage-ordering-queues.ts'

interface HeadCase extends SubQueuesJson {
  readonly pending: ReadonlyArray<WaitingJson>
}

const queueHead: Adapter = {
  run: ({ document }) => {
    const input = document as unknown as HeadCase
    const resources = [...new Set(input.subQueues.flatMap(({ decayedUsage }) => Object.keys(decayedUsage ?? {})))]
    const compare = input.settings.usageBasedOrdering ? orderingOf(input, resources).compare : bySeniority
    return { head: input.pending.map(candidateOf).sort(compare)[0]?.id ?? null }
  },
}

interface DebitsCase {
  readonly operations: ReadonlyArray<
    | { readonly op: 'push'; readonly workload: string; readonly amount: ResourceAmounts }
    | { readonly op: 'withdraw'; readonly workload: string }
  >
}

const pendingDebits: Adapter = {
  run: ({ document }) => {
    const { operations } = document as unknown as DebitsCase
    const resources = [
      ...new Set(operations.flatMap((operation) => (operation.op === 'push' ? Object.keys(operation.amount) : []))),
    ]
    const debits = new PendingDebits(resources.length)
    for (const operation of operations)
      if (operation.op === 'withdraw') debits.withdraw(operation.workload)
      else
        debits.push(
          operation.workload,
          resources.map((resource) => BigInt(operation.amount[resource] ?? 0)),
        )
    return {
      pending: debits.pending,
      total: Object.fromEntries(resources.map((resource, i) => [resource, Number(debits.total[i])])),
    }
  },
}

interface WeightedCase {
  readonly settings: { readonly weights: { readonly node: number; readonly core: number; readonly gpu: number } }
  readonly job: {
    readonly nodes: number
    readonly cores: number
    readonly gpus: number
    readonly elapsedSeconds: number
  }
}

/** The job runs, and its usage is read once the period that it ends in is closed. */
const weightedUsage: Adapter = {
  run: ({ document }) => {
    const { settings, job } = document as unknown as WeightedCase
    const { node, core, gpu } = settings.weights
    const rate = billedMilli(
      [job.nodes, job.cores, job.gpus],
      [node, core, gpu].map((weight) => Math.round(weight * 1000)),
    )
    const usage = new DecayedUsage(PeriodDecay.slurm(0 as DurationMs))
    const end = job.elapsedSeconds * 1000
    usage.started('job', rate, 0 as EpochMs)
    usage.ended('job', rate, 0 as EpochMs, end as EpochMs)
    usage.advance((end + slurmPeriodSeconds * 1000) as EpochMs)
    return { usage: shownAmount(usage.of('job')) / 1000 }
  },
}

interface DecayCase {
  readonly settings: { readonly decayFactorPerPeriod: number }
  readonly nodes: ReadonlyArray<{
    readonly name: string
    readonly kind: FairTreeNode['kind']
    readonly parent: string | null
    readonly usageInCurrentPeriod?: number
  }>
  readonly periodsElapsed: number
}

const millionths = 1_000_000

const decayedUsage: Adapter = {
  run: ({ document }) => {
    const { settings, nodes, periodsElapsed } = document as unknown as DecayCase
    const factor = factorOf(BigInt(Math.round(settings.decayFactorPerPeriod * millionths)), BigInt(millionths))
    const ledger = new FairTreeLedger(
      nodes.map(({ name, kind, parent }) => ({ id: name, kind, parent, shares: 1 })),
      PeriodDecay.stated(1, factor),
    )
    for (const { name, usageInCurrentPeriod = 0 } of nodes)
      ledger.addUsage(name, BigInt(Math.round(usageInCurrentPeriod * millionths)))
    ledger.advance((periodsElapsed * 1000) as EpochMs)
    return {
      usage: Object.fromEntries(nodes.map(({ name }) => [name, shownAmount(ledger.usageOf(name)) / millionths])),
    }
  },
}

export const usageOrderingAdapters: ReadonlyArray<readonly [string, Adapter]> = [
  ['decayed-usage', decayedUsage],
  ['pending-debits', pendingDebits],
  ['queue-head', queueHead],
  ['usage-ordered-cycles', usageOrderedCycles],
  ['weighted-usage', weightedUsage],
]
