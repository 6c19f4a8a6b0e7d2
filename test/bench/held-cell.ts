import { unstatedTerms } from '../../domain/workload/terms.ts'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import type { Ordering } from '../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../domain/workload/request.ts'
import { policyOf } from './standard-log.ts'

export const wholeDevices = (devices: number): PlacementRequest =>
  ({
    cpuMilli: 0,
    devices,
    hostMemoryMib: 0,
    memoryMib: 0,
    milli: 1000,
    models: null,
    span: 'node',
  }) as PlacementRequest

/** Decides about an input and folds it with what was decided, as a recorder does, without a log. */
export const advance = (cell: Cell, input: CellInput): ReadonlyArray<CellDecision> => {
  const decided = decide(input, cell)
  if (E.isLeft(decided)) throw new Error(decided.left.type)
  if (input.type === 'Ticked' && decided.right.length === 0) cell.lookedInVain()
  else {
    evolve(cell, input)
    for (const decision of decided.right) evolve(cell, decision)
  }
  return decided.right
}

export const tick = (cell: Cell, at: number): ReadonlyArray<CellDecision> =>
  advance(cell, { type: 'Ticked', at: at as EpochMs, data: {} })

export const submit = (cell: Cell, id: string, request: PlacementRequest, at: number): void => {
  const data = {
    class: 'default',
    estimateMs: null,
    queue: 'default',
    request,
    team: 'default',
    terms: unstatedTerms,
    workload: id,
  }
  advance(cell, { type: 'WorkloadSubmitted', at: at as EpochMs, data })
}

export const end = (cell: Cell, id: string, at: number): void => {
  const data = { attempt: 1, outcome: 'succeeded', workload: id } as const
  advance(cell, { type: 'AttemptEnded', at: at as EpochMs, data })
}

/** A fleet of so many devices in nodes of eight, all of it taken by single-device workloads, and so many held. */
export const fullCell = (devices: number, held: number, ordering: Ordering = 'greedy'): Cell => {
  const cell = new Cell('cell-bench')
  for (const data of equalNodes(devices / 8, 8)) advance(cell, { type: 'NodeRegistered', at: 0 as EpochMs, data })
  const document = policyOf(ordering, 'first-fit')
  advance(cell, { type: 'PolicyActivated', at: 0 as EpochMs, data: { document, hash: 'bench' } })
  for (let i = 0; i < devices; i++) submit(cell, `running-${i}`, wholeDevices(1), 0)
  tick(cell, 0)
  for (let i = 0; i < held; i++) submit(cell, `held-${i}`, wholeDevices(1), 1)
  tick(cell, 1)
  return cell
}
