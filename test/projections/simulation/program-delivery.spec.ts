import { expect, it } from 'vitest'
import type { CellDecision, CellInput } from '../../../domain/planner/cell-event.ts'
import { contractRun } from '../../../domain/simulation/contract-run.ts'
import { programJobs, programLoad, programTerms } from '../../../domain/simulation/program-load.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { ContractLedger } from '../../../projections/simulation/contract-report.ts'
import { ProgramDelivery } from '../../../projections/simulation/program-delivery.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy } from '../../support/budget-policy.ts'
import { inMemory } from '../../support/simulation/in-memory.ts'

const hour = 3_600_000

it('should find what the books say, from decisions alone', () => {
  const { devicesPerNode, nodes, programs } = programLoad
  const until = 12 * hour
  const policy = budgetPolicy(Object.fromEntries(programs.map(({ name, share }) => [name, share])))
  const delivery = new ProgramDelivery(policy, nodes * devicesPerNode)
  const books = new ContractLedger()
  const run = contractRun(programJobs(1), { ...programTerms, automated: false, holds: [], until })
  let last = 0
  inMemory(nodes, devicesPerNode, policy, run, ({ input, decisions }, cell) => {
    delivery.follow(input, decisions)
    books.follow(input, decisions, cell)
    last = input.at
  })
  const kept = books.report(last).programs
  for (const [name, { delivered, heldGpuHours, owedGpuHours }] of Object.entries(delivery.figures())) {
    expect(heldGpuHours).toBeCloseTo(kept[name]!.held / (1000 * hour), 6)
    expect(owedGpuHours).toBeCloseTo(kept[name]!.owed / (1000 * hour), 6)
    expect(delivered).toBeCloseTo(kept[name]!.delivered!, 9)
    expect(heldGpuHours).toBeGreaterThan(0)
  }
})

it('should count what is evicted as waiting again, and nothing of whom no program answers for', () => {
  const delivery = new ProgramDelivery(budgetPolicy({ a: 1, b: 1 }), 4)
  const tell = (input: unknown, ...decisions: ReadonlyArray<unknown>) => {
    delivery.follow(input as CellInput, decisions as ReadonlyArray<CellDecision>)
  }
  const submit = (workload: string, budget: string | null) => ({
    type: 'WorkloadSubmitted',
    at: 0,
    data: { workload, queue: 'default', request: requestOf({ devices: 4 }), terms: { ...unstatedTerms, budget } },
  })
  const lease = [{ node: 'node-0', devices: [0, 1, 2, 3], milli: 1000 }]
  const tick = (hours: number) => ({ type: 'Ticked', at: hours * hour, data: {} })
  tell(submit('mine', 'a'))
  tell(submit('nobodys', null))
  tell(tick(0), { type: 'WorkloadAdmitted', data: { workload: 'mine', lease } })
  tell(tick(1), { type: 'AttemptStopped', data: { workload: 'mine', requeued: true } })
  tell(tick(3), { type: 'WorkloadAdmitted', data: { workload: 'mine', lease } })
  tell({ type: 'AttemptEnded', at: 4 * hour, data: { workload: 'mine', attempt: 2, outcome: 'succeeded' } })
  tell(tick(9))
  // Owed two devices in each of four hours; it held four of them in two.
  expect(delivery.figures()).toEqual({
    a: { delivered: 1, heldGpuHours: 8, owedGpuHours: 8, worstWeek: null },
    b: { delivered: null, heldGpuHours: 0, owedGpuHours: 0, worstWeek: null },
  })
})
