import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { CellDecision } from '../../domain/planner/cell-event.ts'
import { contractRun } from '../../domain/simulation/contract-run.ts'
import { programJobs, programLoad, programTerms } from '../../domain/simulation/program-load.ts'
import type { ContractJob } from '../../domain/simulation/job-work.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { requestOf } from '../support/arbitrary-fleet.ts'
import { budgetPolicy } from '../support/cell-life.ts'
import { podsOf, type Pod } from '../support/oracle/files.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'
import { inMemory } from '../support/simulation/in-memory.ts'

/** What became of the first band that each wait was told, from the events alone. */
class Scores {
  readonly counts = { before: 0, within: 0, behind: 0, untold: 0 }
  private readonly told = new Map<string, readonly [from: number, to: number] | null>()

  see(decision: CellDecision): void {
    const { at } = decision
    if (decision.type === 'AttemptStopped') this.told.delete(decision.data.workload)
    if (decision.type === 'WorkloadHeld' && !this.told.has(decision.data.workload)) {
      const { projectedFrom: from, projectedTo: to, workload } = decision.data
      this.told.set(workload, from === undefined || to === undefined ? null : [from, to])
    }
    if (decision.type !== 'WorkloadAdmitted') return
    const band = this.told.get(decision.data.workload)
    if (band === undefined) return
    this.told.delete(decision.data.workload)
    if (band === null) this.counts.untold++
    else if (at < band[0]) this.counts.before++
    else if (at > band[1]) this.counts.behind++
    else this.counts.within++
  }

  get coverage(): number {
    const { before, behind, within } = this.counts
    return within / (before + within + behind)
  }
}

it('should tell a band that 70 to 90 of 100 starts fall into, where three programs ask for more than there is', () => {
  const shares = Object.fromEntries(programLoad.programs.map(({ name, share }) => [name, share]))
  const scores = new Scores()
  const terms = { ...programTerms, until: 8 * 86_400_000 }
  inMemory(
    programLoad.nodes,
    programLoad.devicesPerNode,
    budgetPolicy(shares, { mode: 'automate' }),
    contractRun(programJobs(1), terms),
    ({ decisions }) => {
      for (const decision of decisions) scores.see(decision)
    },
  )
  const { before, behind, untold, within } = scores.counts
  expect(before + within + behind).toBeGreaterThan(5_000)
  // Only at the very beginning is nothing known of such waits.
  expect(untold).toBeLessThan(0.02 * within)
  expect(scores.coverage).toBeGreaterThan(0.7)
  expect(scores.coverage).toBeLessThan(0.9)
}, 600_000)

/** Pods of openb that ask for devices, divided among three programs; none says how long it runs. */
const jobsOf = (pods: ReadonlyArray<Pod>): ReadonlyArray<ContractJob> =>
  pods
    .filter(({ gpus, end, submit }) => gpus > 0 && end > submit)
    .map(({ end, gpus, milli, name, qos, submit }, i) => ({
      id: name,
      submitAt: (submit * 1000) as EpochMs,
      runMs: ((end - submit) * 1000) as DurationMs,
      estimateMs: null,
      class: qos,
      queue: 'default',
      team: `program-${i % 3}`,
      request: requestOf({ devices: gpus, milli, span: 'node' }),
      terms: { ...unstatedTerms, budget: `program-${i % 3}` },
    }))
    .sort((a, b) => a.submitAt - b.submitAt)

describeOnData('openb on 40 GPUs', () => {
  it('should tell a band that 70 to 90 of 100 starts fall into', () => {
    const scores = new Scores()
    const jobs = jobsOf(podsOf(sharedData('openb/openb_pod_list_default.csv')))
    const shares = { 'program-0': 40, 'program-1': 35, 'program-2': 25 }
    const terms = { automated: false, drills: [], holds: [], tickEveryMs: 600_000 as DurationMs, until: Infinity }
    inMemory(5, 8, budgetPolicy(shares), contractRun(jobs, terms), ({ decisions }) => {
      for (const decision of decisions) scores.see(decision)
    })
    expect(scores.coverage).toBeGreaterThan(0.7)
    expect(scores.coverage).toBeLessThan(0.9)
  }, 300_000)
})
