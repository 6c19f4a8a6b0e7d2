import { expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyWithHints } from '../../../projections/explain/why.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, hour, minutes } from '../../support/cell-life.ts'
import { policyWithQueues } from '../../support/budget-policy.ts'

/** The lines that say what would help. */
const helpFor = (life: CellLife, workload: string): ReadonlyArray<string> =>
  whyText(whyWithHints(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .split('\n')
    .flatMap((line) => (line.startsWith('Would help ') ? [line.slice(11)] : []))

const cellOf = (policy: AllocationPolicy, devices: number, model: string | null = null): CellLife =>
  new CellLife(hour).policy(policy).nodes(1, devices, model).drilled('a', 'b')

const oneProgram = (more: Partial<AllocationPolicy> = {}): AllocationPolicy => budgetPolicy({ a: 1 }, more)

it('should say how many devices it could have, and whose end alone makes room for all', () => {
  const life = cellOf(oneProgram(), 8)
  life.submit('small', 1, { budget: 'a', estimateMs: minutes(10) }).tick()
  life.submit('large', 4, { budget: 'a', estimateMs: minutes(60) }).tick()
  life.submit('waits', 6, { budget: 'a' }).tick()
  expect(helpFor(life, 'waits')).toEqual([
    'with 3 GPUs it would start now, on node-0.',
    'if large ended it would start now, on node-0.',
  ])
})

it('should name several that would have to end, and none of them for nothing', () => {
  const life = cellOf(oneProgram(), 8)
  for (const [i, devices] of [2, 1, 2, 3].entries())
    life.submit(`runs-${i}`, devices, { budget: 'a', estimateMs: minutes(10 + i) }).tick()
  life.submit('waits', 4, { budget: 'a' }).tick()
  expect(helpFor(life, 'waits')).toEqual(['if runs-0, runs-2 ended it would start now, on node-0.'])
})

it('should say the same where thousands run', () => {
  const life = cellOf(oneProgram(), 1_104)
  for (let i = 0; i < 1_100; i++) life.submit(`runs-${i}`, 1, { budget: 'a' })
  life.tick()
  life.submit('waits', 6, { budget: 'a' }).submit('behind', 5, { budget: 'a' }).tick()
  expect(helpFor(life, 'waits')).toEqual([
    'with 4 GPUs it would start now, on node-0.',
    'if runs-0, runs-1 ended it would start now, on node-0.',
  ])
  expect(helpFor(life, 'behind')).toEqual([
    'with 4 GPUs it would start now, on node-0.',
    'if runs-0 ended it would start now, on node-0.',
  ])
})

it('should say of a share of a device how large it could be', () => {
  const share = (milli: number) => ({ budget: 'a', request: requestOf({ devices: 1, milli }) })
  const life = cellOf(oneProgram(), 1)
  life.submit('runs', 1, share(700)).tick()
  life.submit('waits', 1, share(500)).tick()
  expect(helpFor(life, 'waits')).toEqual([
    'with 300 thousandths of the GPU it would start now, on node-0.',
    'if runs ended it would start now, on node-0.',
  ])
})

it('should say of memory, cores and host memory how much it could have', () => {
  const life = cellOf(oneProgram(), 0)
  const data = { deviceMemoryMib: 80_000, devices: 2, domain: null, model: 'h100', node: 'gpu' } as const
  const beside = { cpuMilli: 16_000, hostMemoryMib: 64_000 }
  life.tell({ type: 'NodeRegistered', at: life.now as EpochMs, data: { ...data, ...beside } })
  const asks = (milli: number, memoryMib: number, cpuMilli: number, hostMemoryMib: number) => ({
    budget: 'a',
    request: requestOf({ cpuMilli, devices: 1, hostMemoryMib, memoryMib, milli }),
  })
  for (const i of [0, 1]) life.submit(`runs-${i}`, 1, asks(400, 50_000, 5_000, 20_000)).tick()
  life.submit('memory', 1, asks(400, 60_000, 1_000, 1_000)).tick()
  life.submit('cores', 1, asks(400, 10_000, 8_500, 1_000)).tick()
  life.submit('host', 1, asks(400, 10_000, 1_000, 30_000)).tick()
  expect(helpFor(life, 'memory')[0]).toBe('with 30,000 MiB of the GPU it would start now, on gpu.')
  expect(helpFor(life, 'cores')[0]).toBe('with 6 cores it would start now, on gpu.')
  expect(helpFor(life, 'host')[0]).toBe('with 24,000 MiB of host memory it would start now, on gpu.')
})

it('should name the accelerator that it would have to accept', () => {
  const life = cellOf(oneProgram(), 2, 'h100').nodes(1, 2, 'a100').nodes(1, 4, 'b300')
  const asks = (devices: number, model: string) => ({ budget: 'a', request: requestOf({ devices, models: [model] }) })
  life.submit('runs', 2, asks(2, 'h100')).tick()
  life.submit('waits', 3, asks(2, 'h100')).tick()
  expect(helpFor(life, 'waits')).toContain('if it accepted a100, too, it would start now, on node-1.')
})

it('should say which caps would have to be raised, and to what', () => {
  const caps = { perPersonMilli: 3000, perTeamMilli: null, teams: { 'a.b': 2000 } }
  const life = cellOf(oneProgram({ caps }), 8).drilled('a.b')
  life.submit('runs', 2, { budget: 'a', team: 'a.b' }).tick()
  life.submit('waits', 2, { budget: 'a', team: 'a.b' }).tick()
  expect(life.reason('waits')).toBe('OverQueueLimit')
  expect(helpFor(life, 'waits')).toEqual([
    'if spec.caps.teams.a.b were 4 GPUs instead of 2 GPUs and spec.caps.perPerson were 4 GPUs instead of 3 GPUs it would start now, on node-0.',
    'if runs ended it would start now, on node-0.',
  ])
})

it('should say by how much a cap in the budget tree would have to be raised', () => {
  const policy = oneProgram()
  const tree = policy.budgets!.tree.map((node) => ({ ...node, capMilli: 3000 }))
  const life = cellOf({ ...policy, budgets: { ...policy.budgets!, tree } }, 8)
  life.submit('runs', 2, { budget: 'a' }).tick()
  life.submit('waits', 2, { budget: 'a' }).tick()
  expect(helpFor(life, 'waits')).toEqual([
    'with 1 GPU it would start now, on node-0.',
    'if spec.budgets.tree[0].cap were 4 GPUs instead of 3 GPUs it would start now, on node-0.',
    'if runs ended it would start now, on node-0.',
  ])
})

const quotaOf = (nominal: number, borrowing: number | null) => [
  { accelerator: 'h100', devices: { borrowing, lending: null, nominal: nominal * 1000 } },
]
const cohorts = [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: quotaOf(4, null) }]
const unshared = policyWithQueues()

it.each(['budgets', 'kueue'] as const)('should say which quota would have to be raised, by %s', (sharing) => {
  const queuesOf = (borrowing: number | null): Partial<AllocationPolicy> => ({
    cohorts,
    queues: [{ cohort: 'all', name: 'default', ordering: 'greedy', quotas: quotaOf(2, borrowing) }],
  })
  const policyOf = (more: Partial<AllocationPolicy>) =>
    sharing === 'kueue' ? { ...unshared, ...more, sharing } : oneProgram(more)
  for (const [borrowing, member] of [
    [1000, 'borrowing were 3 GPUs instead of 1 GPU'],
    [null, 'nominal were 4 GPUs instead of 2 GPUs'],
  ] as const) {
    const life = cellOf(policyOf(queuesOf(borrowing)), 8, 'h100')
    const runs = borrowing === null ? 6 : 3
    life.submit('runs', runs, { budget: 'a' }).tick()
    life.submit('waits', 2, { budget: 'a' }).tick()
    expect(life.reason('waits')).toBe('WaitingForQuota')
    expect(helpFor(life, 'waits')).toContain(
      `if spec.queues[0].quotas[0].devices.${member} it would start now, on node-0.`,
    )
  }
})

it('should say how short it would have to be so that it delays no reservation', () => {
  const life = cellOf({ ...unshared, queues: [{ name: 'default', ordering: 'reserve' }] }, 8)
  life.submit('runs', 6, { estimateMs: minutes(90) }).tick()
  life.submit('head', 8, { estimateMs: minutes(60) }).tick()
  life.submit('waits', 2, { estimateMs: minutes(100) }).tick()
  expect(life.reason('waits')).toBe('WouldDelayReservation')
  expect(helpFor(life, 'waits')).toContain(
    'if it said that it runs for 1 h 30 min at most it would start now, on node-0.',
  )
})

it.each([0, 1_000])('should say that it would start if it let itself be evicted, where %d others run', (others) => {
  const life = new CellLife(hour).policy(budgetPolicy({ a: 1, b: 3 + others / 2 })).nodes(1 + others / 8, 8)
  for (let i = 0; i < others; i++) life.submit(`other-${i}`, 1, { budget: 'b' })
  life.submit('runs', 2, { budget: 'a' }).tick()
  life.submit('waits', 2, { budget: 'a', preemption: { tolerated: false } }).tick()
  expect(life.reason('waits')).toBe('NonPreemptibleOverQuota')
  const [node] = life.cell.workloads.get('runs')!.run!.parts
  expect(helpFor(life, 'waits')).toContain(
    `if it might be evicted, and had passed a drill, it would start now, on node-${node!.node}.`,
  )
})

it('should say nothing of what starts anyway, is on hold, or waits where nothing is decided', () => {
  const life = cellOf(oneProgram(), 2)
  life.submit('starts', 1, { budget: 'a' })
  expect(helpFor(life, 'starts')).toEqual([])
  life.tell({
    type: 'HoldRequested',
    at: life.now as EpochMs,
    data: { actor: 'ann', reason: null, workload: 'starts' },
  })
  expect(helpFor(life, 'starts')).toEqual([])
  const observed = cellOf({ ...oneProgram(), mode: 'observe' }, 2).submit('waits', 1, { budget: 'a' })
  observed.tick()
  expect(helpFor(observed, 'waits')).toEqual([])
})
