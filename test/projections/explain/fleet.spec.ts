import { expect, it } from 'vitest'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { fleetOf } from '../../../projections/explain/fleet.ts'
import { queueOf } from '../../../projections/explain/queue.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'

const at = (ms: number) => ms as CellEvent['at']
const submitted = (workload: string, milli: number): CellEvent => ({
  type: 'WorkloadSubmitted',
  at: at(0),
  data: {
    ...{ class: 'c', estimateMs: null, queue: 'default', team: 't', terms: unstatedTerms, workload },
    request: requestOf({ milli, memoryMib: milli === 1000 ? 0 : 20 }),
  },
})
const admitted = (workload: string, device: number, milli: number): CellEvent => ({
  type: 'WorkloadAdmitted',
  at: at(1_000),
  data: {
    ...{ alternative: null, attempt: 1, expectedEndAt: null, freeMilli: 0, needMilli: milli, rule: 'r', score: null },
    lease: [{ devices: [device], memoryMib: milli === 1000 ? 0 : 20, milli, node: 'n0' }],
    ...{ waitedMs: 0 as never, workload },
  },
})
const cellOf = (...events: ReadonlyArray<CellEvent>): Cell => events.reduce(evolve, new Cell('cell'))
const node = (name: string, devices: number): CellEvent => ({
  type: 'NodeRegistered',
  at: at(0),
  data: nodeOf(name, devices, { deviceMemoryMib: 80, model: 'H100' }),
})
const health = (name: string, device: number | null, to: 'failed' | 'cordoned'): CellEvent => ({
  type: 'NodeHealthChanged',
  at: at(2_000),
  data: { device, health: to, node: name },
})

const busy = [
  ...[node('n0', 4), node('n1', 8), submitted('whole', 1000), submitted('share', 250), submitted('waits', 1000)],
  ...[admitted('whole', 0, 1000), admitted('share', 1, 250)],
]

it('should count a device as it is: free, taken, or of no use to new work', () => {
  const { nodes, total } = fleetOf(cellOf(...busy, health('n0', 3, 'failed'), health('n1', null, 'cordoned')))
  expect(nodes).toMatchObject([
    {
      ...{ node: 'n0', model: 'H100', health: 'ready', devices: 4, unready: [{ device: 3, health: 'failed' }] },
      // Devices 0 to 2 take new work: their memory is free but for the 20 MiB of the share.
      ...{ freeWhole: 1, freeMilli: 1750, allocatedMilli: 1250, freeMemoryMib: 220, freeCpuMilli: null },
      ...{ running: 2, workloads: ['whole', 'share'] },
    },
    { node: 'n1', health: 'cordoned', freeWhole: 0, freeMilli: 0, allocatedMilli: 0, freeMemoryMib: 0, running: 0 },
  ])
  expect(total).toEqual({
    ...{ nodes: 2, devices: 12, installedMilli: 12_000, schedulableMilli: 3_000, allocatedMilli: 1_250 },
    ...{ freeMilli: 1_750, largestWholeMilli: 1_000, largestShareMilli: 1_000, running: 2, waiting: 1, onHold: 0 },
  })
})

it('should give sums that add up for a fleet in use, and zeros for none', () => {
  const { nodes, total } = fleetOf(cellOf(...busy))
  expect(total.freeMilli + total.allocatedMilli).toBe(total.schedulableMilli)
  expect(total.largestWholeMilli).toBe(8_000)
  expect(nodes.reduce((sum, { freeMilli }) => sum + freeMilli, 0)).toBe(total.freeMilli)
  expect(fleetOf(new Cell('cell')).total).toMatchObject({ devices: 0, freeMilli: 0, largestWholeMilli: 0, running: 0 })
})

it('should list so many of each queue, and count the others', () => {
  const cell = cellOf(...busy, submitted('second', 1000), submitted('third', 1000))
  expect(queueOf(cell, null, 2)).toMatchObject({
    rows: [
      { workload: 'waits', position: 1 },
      { workload: 'second', position: 2, waitedMs: 1_000 },
    ],
    ...{ more: 1, running: 2 },
  })
  expect(queueOf(cell, 'default', 0)?.rows).toHaveLength(3)
  expect(queueOf(cell, 'nowhere', 0)).toBeNull()
})

it('should list what is on hold behind what waits, and count it neither as running nor as waiting', () => {
  const holds = (workload: string): CellEvent => ({
    type: 'HoldRequested',
    at: at(3_000),
    data: { actor: 'ann', reason: null, workload },
  })
  const cell = cellOf(...busy, submitted('second', 1000), submitted('third', 1000))
  for (const held of ['third', 'waits', 'whole']) evolve(cell, holds(held))
  const onHold = { position: null, code: 'OnHold', projectedStartAt: null }
  expect(queueOf(cell, null, 0)).toMatchObject({
    rows: [
      { workload: 'second', position: 1, code: null },
      { workload: 'waits', ...onHold, waitedMs: 3_000 },
      { workload: 'third', ...onHold },
    ],
    // One that runs goes on to run.
    ...{ more: 0, running: 2, onHold: 2 },
  })
  expect(queueOf(cell, 'default', 1)).toMatchObject({ rows: [{ workload: 'second' }, { workload: 'waits' }], more: 1 })
  expect(fleetOf(cell).total).toMatchObject({ running: 2, waiting: 1, onHold: 2 })
})
