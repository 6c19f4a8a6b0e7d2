import { expect, it } from 'vitest'
import type { CellDecision } from '../../domain/planner/cell-event.ts'
import { contractRun } from '../../domain/simulation/contract-run.ts'
import { programJobs, programLoad, programTerms } from '../../domain/simulation/program-load.ts'
import { budgetPolicy } from '../support/cell-life.ts'
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
