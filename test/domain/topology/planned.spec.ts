import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../../domain/planner/cell-event.ts'
import { fork } from '../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { TopologyRequest } from '../../../domain/workload/request.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { policyOf } from '../../support/histories.ts'

const at = 0 as EpochMs

const told = (cell: Cell, ...inputs: ReadonlyArray<CellInput>): ReadonlyArray<CellDecision> =>
  inputs.flatMap((input) => {
    const decided = decide(input, cell)
    if (E.isLeft(decided)) throw new Error(decided.left.type)
    evolve(cell, input)
    for (const decision of decided.right) evolve(cell, decision)
    return decided.right
  })

const activate = (hash: string, topologyLevels?: ReadonlyArray<string>): CellInput => {
  const document = policyOf([{ name: 'default', ordering: 'greedy' }])
  return {
    type: 'PolicyActivated',
    at,
    data: { document: { ...document, ...(topologyLevels && { topologyLevels }) }, hash },
  }
}
const submit = (workload: string, devices: number, topology: TopologyRequest): CellInput => {
  const request = { ...requestOf({ devices, span: 'anywhere' }), topology }
  const terms = unstatedTerms
  const data = { class: 'test', estimateMs: null, queue: 'default', request, team: 'test', terms, workload }
  return { type: 'WorkloadSubmitted', at, data }
}
const tick: CellInput = { type: 'Ticked', at, data: {} }

/** Two racks of two nodes with four devices each. */
const racks = (
  places = [
    { block: 'b1', rack: 'r1' },
    { block: 'b1', rack: 'r2' },
  ],
): Cell => {
  const cell = new Cell('cell')
  const nodes = places.flatMap((topology, rack) =>
    [0, 1].map((i): CellInput => {
      return { type: 'NodeRegistered', at, data: { ...nodeOf(`n${2 * rack + i}`, 4), topology } }
    }),
  )
  told(cell, activate('1', ['block', 'rack']), ...nodes)
  return cell
}

it('should start a gang within the level it requires, and say why one waits that would fit elsewhere', () => {
  const cell = racks()
  const decisions = told(
    cell,
    submit('six', 6, { required: 'rack' }),
    submit('also-six', 6, { required: 'rack' }),
    tick,
    submit('four', 4, { required: 'rack' }),
    tick,
  )
  expect(decisions).toMatchObject([
    { type: 'WorkloadAdmitted', data: { workload: 'six', lease: [{ node: 'n0' }, { node: 'n1' }] } },
    { type: 'WorkloadAdmitted', data: { workload: 'also-six', lease: [{ node: 'n2' }, { node: 'n3' }] } },
    {
      type: 'WorkloadHeld',
      data: { workload: 'four', code: 'TopologyPlacementFailed', rule: 'spec.topology.levels', largestMilli: 2000 },
    },
  ])
})

it('should refuse what no domain of the level could ever hold', () => {
  expect(told(racks(), submit('nine', 9, { required: 'rack' }), tick)).toMatchObject([
    { type: 'WorkloadRefused', data: { workload: 'nine', code: 'ExceedsFleet', largestMilli: 8000 } },
  ])
})

it.each<[string, TopologyRequest]>([
  ['a level that the policy does not have', { required: 'zone' }],
  ['slices that are larger than the domain that holds them', { required: 'rack', sliceLevel: 'block', sliceSize: 2 }],
])('should refuse %s', (_, topology) => {
  expect(told(racks(), submit('odd', 4, topology), tick)).toMatchObject([
    { type: 'WorkloadRefused', data: { code: 'Misconfigured', rule: 'spec.topology.levels' } },
  ])
})

it('should decide from a snapshot by the same levels', () => {
  const cell = fork(racks())
  expect(told(cell, submit('eight', 8, { required: 'rack' }), tick)).toMatchObject([
    { type: 'WorkloadAdmitted', data: { lease: [{ node: 'n0' }, { node: 'n1' }] } },
  ])
})

it('should look at what waits by the levels of the policy that is in force', () => {
  const cell = racks([
    { block: 'b1', rack: 'r1' },
    { block: 'b2', rack: 'r1' },
  ])
  const [six, also] = ['six', 'also-six'].map((workload) => submit(workload, 6, { required: 'rack' }))
  const decisions = told(cell, six!, also!, tick, submit('four', 4, { required: 'rack' }), tick)
  expect(decisions.at(-1)).toMatchObject({ type: 'WorkloadHeld', data: { workload: 'four' } })
  expect(told(cell, activate('2', ['rack']), tick)).toMatchObject([
    { type: 'WorkloadAdmitted', data: { workload: 'four', lease: [{ node: 'n1' }, { node: 'n3' }] } },
  ])
})
