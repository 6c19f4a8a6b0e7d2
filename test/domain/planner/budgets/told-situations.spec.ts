import { expect, it } from 'vitest'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import { fork } from '../../../../domain/planner/cell-snapshot.ts'
import { dryRun } from '../../../../domain/planner/dry-run.ts'
import { projectStarts } from '../../../../domain/planner/projection.ts'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import type { QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { warningsOf } from '../../../../domain/policy/policy-warnings.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import {
  decisionsOf,
  heldOf,
  pass,
  preemptionsOf,
  servedOf,
  startsOf,
  victimsOf,
} from '../../../support/budgets/seen.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'

const day = 24 * hour
const quotaOf = (nominal: number, borrowing: number | null = null) => [
  { accelerator: 'x', devices: { borrowing, lending: null, nominal: nominal * 1000 } },
]

it('should warn where guarantees exceed what is there (situation 11, kueue#4782)', () => {
  const queues: QueuePolicy[] = [
    { name: 'default', ordering: 'greedy', cohort: 'all', quotas: quotaOf(6) },
    { name: 'other', ordering: 'greedy', cohort: 'all', quotas: quotaOf(6) },
  ]
  const cohorts = [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }]
  const policy = budgetPolicy({ a: 1, b: 1 }, { queues, cohorts })
  const life = new CellLife().policy(policy).nodes(1, 8, 'x')
  const supply = warningsOf(policy, life.cell.fleet.nodes, 0 as EpochMs).filter(({ reason }) =>
    /add up to/.test(reason),
  )
  expect(supply).toHaveLength(1)
  expect(supply[0]!.reason).toContain('12 devices')
  expect(warningsOf(policy, [...life.cell.fleet.nodes, ...life.cell.fleet.nodes], 0 as EpochMs)).not.toContainEqual(
    supply[0],
  )
})

it('should say how much is free in total, and how large its largest piece is (situation 13, volcano#3948)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }))
    .nodes(3, 8)
    .drilled('a')
  for (const [i, devices] of [7, 6, 7].entries())
    life.submit(`n${i}`, devices, { budget: 'a', request: requestOf({ devices }) }).tick()
  life.submit('four', 4, { budget: 'a', request: requestOf({ devices: 4 }) }).tick()
  expect(heldOf(life, 'four')).toMatchObject({ code: 'FragmentedCapacity', freeMilli: 4000, largestMilli: 2000 })
})

it('should serve who was idle for six days at once, and forgive no hog in a moment (situation 14, kueue#9734)', () => {
  const start = Date.UTC(2026, 7, 3)
  const life = new CellLife(start)
    .policy(budgetPolicy({ burst: 1, hog: 1 }))
    .nodes(1, 8)
    .drilled('burst', 'hog')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  for (let i = 0; i < 16; i++) life.submit(`hog-${i}`, 1, { budget: 'hog', ...protect })
  life.tick()
  pass(life, start + 6 * day, hour)
  expect(life.holds('hog')).toBe(8)
  for (let i = 0; i < 8; i++) life.submit(`burst-${i}`, 1, { budget: 'burst', ...protect })
  life.tick()
  pass(life, start + 6 * day + 15 * minute)
  expect(life.holds('burst')).toBe(4)
  // Whatever comes free now goes to whom it was not, as long as that had less of what it was owed.
  pass(life, start + 6 * day + 3 * hour, 10 * minute)
  const { ledger } = life.cell.books!
  const ratio = (program: string) => {
    const { charged, owed } = ledger.read(ledger.node(program)!)
    return Number(charged) / Number(owed)
  }
  expect(ratio('hog')).toBeGreaterThan(1)
  expect(ratio('burst')).toBeLessThan(1)
  life.end(life.running.find((id) => id.startsWith('hog'))!)
  life.tick()
  expect(life.holds('burst')).toBe(5)
})

it('should print the arithmetic behind a share that is spent (kueue#10872)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 4)
    .drilled('a', 'b')
  for (let i = 0; i < 4; i++) life.submit(`a${i}`, 1, { budget: 'a' }).submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  pass(life, 3 * hour)
  const held = heldOf(life, 'b3')!
  expect(held).toMatchObject({ code: 'BehindInQueue' })
  const first = life.running.includes('b2') ? 'b3' : 'b2'
  expect(heldOf(life, first)).toMatchObject({
    code: 'BudgetExhaustedInWindow',
    rule: 'spec.budgets.tree[1]',
    compared: { entitledMilli: 2000, heldMilli: 2000 },
  })
})

it('should charge who holds devices and does nothing with them (situation 18, HyperPod)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 4)
    .drilled('a', 'b')
  for (let i = 0; i < 4; i++) life.submit(`a${i}`, 1, { budget: 'a' })
  life.tick()
  for (let i = 2; i < 4; i++)
    life.tell({ type: 'ProgressObserved', at: 0 as EpochMs, data: { attempt: 1, workload: `a${i}` } })
  pass(life, 4 * hour)
  const { ledger } = life.cell.books!
  // Two hung for four hours, ten minutes each of which still counted as work: 2 x 3 h 50 min.
  expect(Number(ledger.read(ledger.node('a')!).idleCharged) / 1000 / hour).toBeCloseTo(2 * (4 - 1 / 6), 6)
  expect(decisionsOf(life).filter(({ type }) => type === 'LeaseIdled')).toHaveLength(2)
})

it('should evict no more of a team in an hour than its limit, and say when the next may go (situation 19, Armada PR 5073)', () => {
  const limits = { ...defaultLimits, preemptionsPerTeamHour: 2 }
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { limits }))
    .nodes(1, 8)
    .drilled('a', 'b')
  for (let i = 0; i < 8; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  life.at(minute)
  for (let i = 0; i < 4; i++) life.submit(`a${i}`, 1, { budget: 'a' })
  life.tick()
  pass(life, hour)
  expect(victimsOf(life)).toHaveLength(2)
  const [first] = preemptionsOf(life)
  const waiting = ['a0', 'a1', 'a2', 'a3'].find((id) => !life.running.includes(id))!
  expect(heldOf(life, waiting)).toMatchObject({
    code: 'PreemptionRateLimited',
    compared: { retryAtMs: first!.at + hour },
  })
  pass(life, first!.at + hour - minute)
  expect(victimsOf(life)).toHaveLength(2)
  pass(life, first!.at + hour)
  expect(victimsOf(life)).toHaveLength(4)
})

it('should protect for the runtime that was declared, as far as the policy caps it (situation 20, kueue#9876)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 2)
    .drilled('a', 'b')
  life.submit('short', 1, { budget: 'b', preemption: { minRuntimeMs: minutes(45) } })
  life.submit('long', 1, { budget: 'b', preemption: { minRuntimeMs: minutes(600) } }).tick()
  life.at(minute).submit('a', 1, { budget: 'a' })
  pass(life, 44 * minute)
  expect(heldOf(life, 'a')).toMatchObject({ code: 'ProtectedWindow', compared: { untilMs: 45 * minute } })
  pass(life, 45 * minute)
  expect(victimsOf(life)).toEqual(['short'])
  const alone = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 2)
    .drilled('a', 'b')
  for (const id of ['long-0', 'long-1'])
    alone.submit(id, 1, { budget: 'b', preemption: { minRuntimeMs: minutes(600) } })
  alone.tick()
  alone.at(minute).submit('a', 1, { budget: 'a' })
  pass(alone, 5 * hour)
  expect(startsOf(alone, 'a')).toEqual([2 * hour])
})

it('should protect each attempt from its own start, whatever was before (situation 23, SchedMD/slurm PR 216)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 2)
    .drilled('a', 'b')
  const protect = { preemption: { minRuntimeMs: minutes(60) } }
  life
    .submit('b0', 1, { budget: 'b', ...protect })
    .submit('b1', 1, { budget: 'b', ...protect })
    .tick()
  life.at(minute).submit('a0', 1, { budget: 'a' })
  pass(life, hour)
  const [victim] = victimsOf(life)
  life.end('a0').tick()
  expect(startsOf(life, victim!)).toEqual([0, hour])
  life.submit('a1', 1, { budget: 'a' })
  // The other one has been out of its window all along, and a copy knows it, too.
  const copy = fork(life.cell)
  expect([...copy.workloads.values()].flatMap(({ id, run }) => (run === null ? [] : [[id, run.confirmedAt]]))).toEqual(
    [...life.cell.workloads.values()].flatMap(({ id, run }) => (run === null ? [] : [[id, run.confirmedAt]])),
  )
  pass(life, 3 * hour)
  expect(victimsOf(life)[1]).toBe(victim === 'b0' ? 'b1' : 'b0')
})

it('should say who is ahead, why it waits and when it starts (kueue#2833)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }))
    .nodes(1, 4)
    .drilled('a')
  const short = { budget: 'a', estimateMs: minutes(60) }
  life.submit('runs', 4, short).tick()
  life.at(minute).submit('next', 4, short).submit('last', 4, short).tick()
  // It has all there is, and is owed no more.
  expect(heldOf(life, 'next')!.code).toBe('BudgetExhaustedInWindow')
  expect(heldOf(life, 'last')).toMatchObject({ code: 'BehindInQueue', behind: 'next' })
  const { starts } = projectStarts(life.cell, 'last')
  expect([starts.get('next'), starts.get('last')]).toEqual([hour, 2 * hour])
  const { terms } = life.cell.workloads.get('last')!
  const dry = dryRun(life.cell, {
    class: 'training',
    estimateMs: minutes(60),
    queue: 'default',
    request: requestOf({ devices: 4, span: 'anywhere' }),
    team: 'a',
    terms,
    workload: 'new',
  })
  expect(dry).toMatchObject({ outcome: 'waits', position: 3, startAt: 3 * hour })
  expect(servedOf(life, 'runs', life.now)).toBe(4 * minute)
})
