import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { contractRun, type ContractTerms } from '../../../domain/simulation/contract-run.ts'
import { durations } from '../../../domain/simulation/durations.ts'
import { programJobs, programLoad, programTerms } from '../../../domain/simulation/program-load.ts'
import { ContractLedger, type ContractReport } from '../../../projections/simulation/contract-report.ts'
import { inMemory } from './in-memory.ts'
import { LogOracle, type OracleFigures } from './log-oracle.ts'

const { devicesPerNode, nodes, programs } = programLoad
const devices = nodes * devicesPerNode
const dayMs = 86_400_000

export interface Month {
  readonly report: ContractReport
  readonly oracle: OracleFigures
  readonly wallMs: number
}

/** A month, or the first days of it, of the load of three programs under a policy. */
export const programMonth = (
  seed: number,
  policy: AllocationPolicy,
  days: number = programLoad.days,
  terms: ContractTerms = programTerms,
): Month => {
  const until = days * dayMs
  const ledger = new ContractLedger()
  const oracle = new LogOracle({
    devices,
    minRuntimeMaxMs: 2 * 3_600_000,
    promotionAfter: 3,
    shares: Object.fromEntries(programs.map(({ name, share }) => [name, share])),
    turnMs: 30 * 60_000,
  })
  const start = performance.now()
  inMemory(
    nodes,
    devicesPerNode,
    policy,
    contractRun(programJobs(seed), { ...terms, until }),
    ({ input, decisions }, cell) => {
      ledger.follow(input, decisions, cell)
    },
    (told) => {
      oracle.hear(told)
    },
  )
  return { report: ledger.report(until), oracle: oracle.figures(until), wallMs: performance.now() - start }
}

/** Figures that are held to bars, from the log alone: a policy that keeps no books has them, too. */
export interface Bars {
  readonly delivered: number
  readonly worstWeek: number
  readonly occupancy: number
  readonly debugP90S: number
}

export const barsOf = ({ programs: each, allocated, waits }: OracleFigures, days: number = programLoad.days): Bars => ({
  delivered: Math.min(...Object.values(each).map(({ held, owed }) => Math.min(held, owed) / owed)),
  worstWeek: Math.min(...Object.values(each).map(({ worstWeek }) => worstWeek)),
  occupancy: allocated / (1000 * devices * days * dayMs),
  debugP90S: durations(waits.get('debug')!)!.p90S,
})

/** Names of the bars that are missed. */
export const missed = ({ delivered, worstWeek, occupancy, debugP90S }: Bars): ReadonlyArray<string> => [
  ...(delivered < 0.98 ? ['98 % of what is owed'] : []),
  ...(worstWeek < 0.95 ? ['95 % of it in any week'] : []),
  ...(occupancy < 0.98 ? ['98 % occupied'] : []),
  ...(debugP90S > 30 ? ['debug within 30 s'] : []),
]

export const told = ({ delivered, worstWeek, occupancy, debugP90S }: Bars): string =>
  `delivered ${delivered.toFixed(4)}, in the worst week ${worstWeek.toFixed(4)}, occupied ${occupancy.toFixed(4)}, ` +
  `debug p90 ${debugP90S.toFixed(1)} s`
