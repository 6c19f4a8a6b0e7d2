import { either as E } from 'fp-ts'
import { Cell } from '../../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../../domain/planner/cell-event.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { equalNodes } from '../../../domain/simulation/equal-nodes.ts'
import type { Run } from '../../../domain/simulation/run.ts'

/** An input that was taken, and what was decided about it. */
export interface Told {
  readonly input: CellInput
  readonly decisions: ReadonlyArray<CellDecision>
}
export type Seen = (told: Told, cell: Cell) => void

/**
 * Lets a run go through the decider, on so many equal nodes, as the process that writes the log does: a tick that
 * decides nothing is not told to anybody.
 */
export const inMemory = (
  nodes: number,
  devices: number,
  policy: AllocationPolicy,
  run: Run,
  ...seen: ReadonlyArray<Seen>
): Cell => {
  const cell = new Cell('default')
  const take = (input: CellInput): ReadonlyArray<CellDecision> => {
    const decided = decide(input, cell)
    if (E.isLeft(decided)) throw new Error(`${JSON.stringify(input)}: ${JSON.stringify(decided.left)}`)
    const decisions = decided.right
    if (input.type === 'Ticked' && decisions.length === 0) {
      cell.lookedInVain()
      return decisions
    }
    evolve(cell, input)
    for (const decision of decisions) evolve(cell, decision)
    for (const each of seen) each({ input, decisions }, cell)
    return decisions
  }
  const at = 0 as EpochMs
  for (const data of equalNodes(nodes, devices)) take({ type: 'NodeRegistered', at, data })
  take({ type: 'PolicyActivated', at, data: { document: policy, hash: policy.name } })
  for (let step = run.next([]); step.done !== true;) step = run.next(take(step.value))
  return cell
}
