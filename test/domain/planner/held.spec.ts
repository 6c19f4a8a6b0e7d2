import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { CellInput, WorkloadHeld } from '../../../domain/planner/cell-event.ts'
import { fork } from '../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { projectStarts } from '../../../domain/planner/projection.ts'
import type { QueuePolicy } from '../../../domain/policy/allocation-policy.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { policyOf } from '../../support/histories.ts'

const at = (ms: number) => ms as EpochMs

/** Lets the cell go through inputs; returns who is held for what by the last of them. */
const through = (cell: Cell, ...inputs: ReadonlyArray<CellInput>): ReadonlyArray<WorkloadHeld['data']> => {
  let held: ReadonlyArray<WorkloadHeld['data']> = []
  for (const input of inputs) {
    const decided = decide(input, cell)
    if (E.isLeft(decided)) throw new Error(decided.left.type)
    evolve(cell, input)
    for (const decision of decided.right) evolve(cell, decision)
    held = decided.right.flatMap((decision) => (decision.type === 'WorkloadHeld' ? [decision.data] : []))
  }
  return held
}

const node = (devices: number): CellInput => ({ type: 'NodeRegistered', at: at(0), data: nodeOf('n0', devices) })
const policy = (hash: string, ...queues: ReadonlyArray<QueuePolicy>): CellInput => ({
  type: 'PolicyActivated',
  at: at(0),
  data: { document: policyOf(queues), hash },
})
const submit = (workload: string, queue: string, devices: number, estimateMs: number | null = 100_000): CellInput => ({
  type: 'WorkloadSubmitted',
  at: at(0),
  data: {
    class: 'test',
    estimateMs: estimateMs as DurationMs | null,
    queue,
    request: requestOf({ devices }),
    team: 'test',
    terms: unstatedTerms,
    workload,
  },
})
const tick = (ms = 0): CellInput => ({ type: 'Ticked', at: at(ms), data: {} })
const told = (held: ReadonlyArray<WorkloadHeld['data']>) =>
  held.map(({ workload, code, rule, behind }) => [workload, code, rule, behind])

describe('a new policy', () => {
  const full = () => {
    const cell = new Cell('cell')
    const first = policy('1', { name: 'a', ordering: 'fifo' }, { name: 'b', ordering: 'fifo' })
    through(cell, node(1), first, submit('runs', 'a', 1), submit('a1', 'a', 1), submit('a2', 'a', 1))
    through(cell, submit('b1', 'b', 1), submit('b2', 'b', 1), tick())
    return cell
  }

  it('should give every reason anew that it changes: of whole queues, not of their heads alone', () => {
    const cell = full()
    expect(told(through(cell, policy('2', { name: 'b', ordering: 'fifo' }), tick()))).toEqual([
      ['a1', 'Misconfigured', 'spec.queues', null],
      ['a2', 'Misconfigured', 'spec.queues', null],
      ['b1', 'WaitingForCapacity', 'spec.queues[0].ordering', null],
      ['b2', 'BehindInQueue', 'spec.queues[0].ordering', 'b1'],
    ])
    const back = policy('3', { name: 'b', ordering: 'fifo' }, { name: 'a', ordering: 'greedy' })
    expect(told(through(cell, back, tick()))).toEqual([
      ['a1', 'WaitingForCapacity', 'spec.placement.strategy', null],
      ['a2', 'BehindInQueue', 'spec.queues[1].ordering', 'a1'],
    ])
    expect(through(cell, tick(5))).toEqual([])
  })

  it('should do so also for a cell that is read back from a snapshot before the next tick', () => {
    const cell = full()
    through(cell, policy('2', { name: 'b', ordering: 'fifo' }))
    const again = fork(cell)
    expect(through(again, tick())).toEqual(through(cell, tick()))
  })
})

describe('what fits and would delay a reservation', () => {
  it('should be told whose it is, also at the head of a queue behind', () => {
    const cell = new Cell('cell')
    const queues = policy('1', { name: 'a', ordering: 'reserve' }, { name: 'b', ordering: 'fifo' })
    through(cell, node(4), queues, submit('runs', 'a', 3, 50_000), tick())
    const held = through(cell, submit('wide', 'a', 4), submit('long', 'b', 1), tick())
    expect(
      held.map(({ workload, code, rule, behind, projectedStartAt }) => [
        workload,
        code,
        rule,
        behind,
        projectedStartAt,
      ]),
    ).toEqual([
      ['wide', 'WaitingForCapacity', 'spec.queues[0].ordering', null, 50_000],
      ['long', 'WouldDelayReservation', 'spec.queues[0].ordering', 'wide', null],
    ])
    expect(told(through(cell, submit('short', 'b', 1, 50_000), tick()))).toEqual([
      ['short', 'BehindInQueue', 'spec.queues[1].ordering', 'long'],
    ])
  })

  it('should be nobody while nothing is expected to make room', () => {
    const cell = new Cell('cell')
    const queues = policy('1', { name: 'a', ordering: 'reserve' })
    through(cell, node(4), queues, submit('runs', 'a', 3, null), tick())
    const held = through(cell, submit('wide', 'a', 4), submit('long', 'a', 1), tick())
    expect(held.map(({ workload, projectedStartAt }) => [workload, projectedStartAt])).toEqual([['wide', null]])
  })
})

it('should project what waits for a job that takes no time to the instant itself', () => {
  const cell = new Cell('cell')
  through(
    cell,
    node(1),
    policy('1', { name: 'a', ordering: 'fifo' }),
    submit('nil', 'a', 1, 0),
    submit('next', 'a', 1),
    tick(),
  )
  expect(projectStarts(cell, 'next')).toMatchObject({ outcome: 'known', starts: new Map([['next', 0]]) })
})

it('should take what differs in anything for another fact, and health that is there already for a repeated one', () => {
  const cell = new Cell('cell')
  through(cell, node(2), submit('w', 'a', 1))
  const other = submit('w', 'a', 1, 5)
  expect(decide(submit('w', 'a', 1), cell)).toEqual(E.left({ type: 'Repeated' }))
  expect(decide(other, cell)).toEqual(E.left({ type: 'DuplicateWorkload', workload: 'w' }))
  const health = (device: number | null, state: 'ready' | 'failed' | 'draining'): CellInput => ({
    type: 'NodeHealthChanged',
    at: at(0),
    data: { device, health: state, node: 'n0' },
  })
  expect(decide(health(null, 'ready'), cell)).toEqual(E.left({ type: 'Repeated' }))
  through(cell, health(1, 'failed'))
  expect(decide(health(1, 'failed'), cell)).toEqual(E.left({ type: 'Repeated' }))
  expect(decide(health(1, 'draining'), cell)).toEqual(E.right([]))
  expect(decide(health(1, 'failed'), fork(cell))).toEqual(E.left({ type: 'Repeated' }))
  expect(decide(health(2, 'failed'), cell)).toEqual(
    E.left({ type: 'UnknownDevice', node: 'n0', device: 2, devices: 2 }),
  )
})

describe('what is overtaken by one that comes back to its old place', () => {
  const order = (type: 'HoldRequested' | 'ReleaseRequested', workload: string): CellInput => ({
    type,
    at: at(0),
    data: { actor: 'u', reason: null, workload },
  })

  it.each(['greedy', 'fifo', 'reserve'] as const)('should be behind it in a queue that is %s', (ordering) => {
    const cell = new Cell('cell')
    through(cell, node(1), policy('1', { name: 'a', ordering }), submit('runs', 'a', 1), tick())
    through(cell, submit('early', 'a', 1), tick(), order('HoldRequested', 'early'), tick())
    through(cell, submit('late', 'a', 1), tick(1))
    expect(cell.workloads.get('late')?.hold?.code).toBe('WaitingForCapacity')
    const behind = ['late', 'BehindInQueue', 'spec.queues[0].ordering', 'early']
    expect(told(through(cell, order('ReleaseRequested', 'early'), tick(2)))).toContainEqual(behind)
  })
})
