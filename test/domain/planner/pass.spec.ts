import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { CellDecision, CellInput } from '../../../domain/planner/cell-event.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { orderings, type Strategy } from '../../../domain/policy/allocation-policy.ts'
import { anyHistory, exactHistory, Script, singleQueue, type Step } from '../../support/histories.ts'
import { NaivePlanner } from '../../support/naive/naive-planner.ts'

const ordered: ReadonlyArray<Strategy> = ['first-fit', 'best-fit', 'model-aware', 'spread']

/** Lets cell and naive planner go through a history side by side. */
const walk = (
  steps: ReadonlyArray<Step>,
  atTick: (input: CellInput, decisions: ReadonlyArray<CellDecision>, naive: NaivePlanner, cell: Cell) => void,
) => {
  const cell = new Cell('cell')
  const naive = new NaivePlanner()
  const script = new Script()
  for (const step of steps)
    for (const input of script.inputs(step, cell)) {
      const decided = decide(input, cell)
      if (E.isLeft(decided)) continue
      evolve(cell, input)
      for (const decision of decided.right) evolve(cell, decision)
      naive.follow(input)
      if (input.type === 'Ticked') atTick(input, decided.right, naive, cell)
    }
  return cell
}

/** The same starts on the same devices in the same order, the same overruns, and the same reason for all that waits. */
const expectSameTick = (input: CellInput, decisions: ReadonlyArray<CellDecision>, naive: NaivePlanner, cell: Cell) => {
  const { overran, reasons, reserved, started } = naive.tick(input.at)
  const startedHere = decisions.flatMap((decision) =>
    decision.type === 'WorkloadAdmitted' ? [{ id: decision.data.workload, lease: decision.data.lease }] : [],
  )
  expect(startedHere).toEqual(started)
  const overranHere = decisions.flatMap(({ type, data }) =>
    type === 'EstimateOverran' ? [{ id: data.workload, expectedEndAt: data.expectedEndAt }] : [],
  )
  expect(overranHere).toEqual(overran)
  if (!cell.decides) return
  const waiting = [...cell.workloads.values()].filter(({ run }) => run === null)
  const reasonsHere = new Map(waiting.map(({ id, hold }) => [id, hold && { code: hold.code, rule: hold.rule }]))
  expect(reasonsHere).toEqual(new Map([...reasons].map(([id, { code, rule }]) => [id, { code, rule }])))
  for (const decision of decisions) {
    if (decision.type !== 'WorkloadHeld') continue
    const { behind, code, projectedStartAt, workload } = decision.data
    expect(behind).toBe(reasons.get(workload)!.behind)
    const at = reserved.get(workload)
    if (at !== undefined && code !== 'WouldDelayReservation') expect(projectedStartAt).toBe(at === Infinity ? null : at)
  }
}

describe('a pass', () => {
  it('should decide as lists without any index do: every queue, ordering, policy change, fault and overrun', () => {
    fc.assert(
      fc.property(anyHistory(ordered), (steps) => {
        walk(steps, expectSameTick)
      }),
      { numRuns: 1500 },
    )
  })

  it.each(orderings)(
    'should decide so for one queue under %s, when everything runs as long as was said',
    (ordering) => {
      const policy = fc.constantFrom(...ordered).map((strategy) => singleQueue(ordering, strategy))
      fc.assert(
        fc.property(exactHistory(policy), (steps) => {
          walk(steps, expectSameTick)
        }),
        { numRuns: 500 },
      )
    },
  )
})
