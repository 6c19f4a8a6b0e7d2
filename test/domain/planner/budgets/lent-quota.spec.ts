import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import { fork } from '../../../../domain/planner/cell-snapshot.ts'
import type { AllocationPolicy, QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import { decisionsOf, heldOf, pass, preemptionsOf, startsOf, victimsOf } from '../../../support/budgets/seen.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'

const quotaOf = (nominal: number, borrowing: number | null = null) => [
  { accelerator: 'x', devices: { borrowing, lending: null, nominal: nominal * 1000 } },
]
const halves: ReadonlyArray<QueuePolicy> = [
  { name: 'default', ordering: 'greedy', cohort: 'all', quotas: quotaOf(4) },
  { name: 'other', ordering: 'greedy', cohort: 'all', quotas: quotaOf(4) },
]
const cohorts = [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }]

it('should take lent quota back for its owner (situation 18, koordinator#2432)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ owner: 1, borrower: 1 }, { queues: halves, cohorts }))
    .nodes(1, 8, 'x')
    .drilled('owner', 'borrower')
  for (let i = 0; i < 8; i++) life.submit(`b${i}`, 1, { budget: 'borrower', queue: 'other' })
  life.tick()
  expect(life.holds('borrower')).toBe(8)
  life.at(minute)
  for (let i = 0; i < 4; i++) life.submit(`o${i}`, 1, { budget: 'owner' })
  life.tick()
  pass(life, hour)
  expect([life.holds('owner'), life.holds('borrower')]).toEqual([4, 4])
})

describe('a deadline for what is lent (situation 18, koordinator#2432)', () => {
  const rule = 'spec.queues[0].lendingDeadline'
  /** Quota of four and four. By share nobody owes the owner anything: all of it is the borrower's. */
  const lending = (
    more: Partial<AllocationPolicy> = {},
    job: Parameters<CellLife['submit']>[2] = {},
    nominal = 4,
  ): CellLife => {
    const queues: QueuePolicy[] = [
      { name: 'default', ordering: 'greedy', cohort: 'all', lendingDeadlineMs: minutes(240), quotas: quotaOf(nominal) },
      { name: 'other', ordering: 'greedy', cohort: 'all', quotas: quotaOf(8 - nominal) },
    ]
    const life = new CellLife()
      .policy(budgetPolicy({ owner: 0, borrower: 1 }, { queues, cohorts, ...more }))
      .nodes(1, 8, 'x')
      .drilled('owner', 'borrower')
    for (let i = 0; i < 8; i++) life.submit(`b${i}`, 1, { budget: 'borrower', queue: 'other', ...job })
    life.tick()
    return life
  }
  const wanting = (life: CellLife, count = 1) => {
    for (let i = 0; i < count; i++) life.submit(`o${i}`, 1, { budget: 'owner' })
    life.tick()
    return life
  }

  it('should bring it back though no time is owed, when it is over and not before, and name the rule', () => {
    const life = wanting(lending().at(hour))
    pass(life, 5 * hour - 1, minute)
    expect(victimsOf(life)).toEqual([])
    pass(life, 5 * hour)
    const [decided] = preemptionsOf(life)
    expect(decided).toMatchObject({ at: 5 * hour, data: { rule, side: null, victimSide: null, workload: 'o0' } })
    expect(startsOf(life, 'o0')).toEqual([5 * hour])
    const told = decisionsOf(life).filter(({ data }) => 'rule' in data && data.rule === rule)
    expect(told.map(({ type }) => type)).toEqual([
      'PreemptionDecided',
      'AttemptStopped',
      'WorkloadHeld',
      'WorkloadAdmitted',
    ])
  })
  it('should bring back all of its own, and no more', () => {
    const life = wanting(lending(), 8)
    pass(life, 12 * hour)
    expect([life.holds('owner'), life.holds('borrower')]).toEqual([4, 4])
    expect(victimsOf(life)).toHaveLength(4)
  })
  it('should bring nothing back where none is set, or to whom its own is too small for', () => {
    const life = wanting(lending(), 0).submit('large', 5, { budget: 'owner' })
    pass(life, 12 * hour)
    expect(victimsOf(life)).toEqual([])
    const unset = wanting(lending({ queues: halves }))
    pass(unset, 12 * hour)
    expect(victimsOf(unset)).toEqual([])
  })
  it('should leave each borrower its time, and an owner that holds its work back none', () => {
    const life = lending()
    life.at(3 * hour).end('b0')
    life.submit('late', 1, { budget: 'borrower', queue: 'other' }).tick()
    for (let i = 1; i < 8; i++) life.end(`b${i}`).submit(`late${i}`, 1, { budget: 'borrower', queue: 'other' })
    life.tick()
    wanting(life.at(4 * hour))
    life.tell({ type: 'HoldRequested', at: life.now as EpochMs, data: { actor: 'ann', reason: null, workload: 'o0' } })
    life.at(6 * hour)
    life.tell({
      type: 'ReleaseRequested',
      at: life.now as EpochMs,
      data: { actor: 'ann', reason: null, workload: 'o0' },
    })
    pass(life, 10 * hour - minute, minute)
    expect(victimsOf(life)).toEqual([])
    pass(life, 10 * hour)
    expect(victimsOf(life)).toHaveLength(1)
  })
  it('should say until when borrowers may keep what they have held for less', () => {
    const life = wanting(lending().at(hour)).at(3 * hour)
    for (let i = 0; i < 8; i++) life.end(`b${i}`).submit(`late${i}`, 1, { budget: 'borrower', queue: 'other' })
    life.tick()
    pass(life, 5 * hour)
    expect(heldOf(life, 'o0')).toMatchObject({ code: 'ProtectedWindow', compared: { untilMs: 7 * hour }, rule })
    pass(life, 7 * hour)
    expect(victimsOf(life)).toHaveLength(1)
  })
  it('should not be spent on who would have to borrow it again, whatever time that is owed', () => {
    const life = wanting(lending(), 4)
    pass(life, 4 * hour)
    expect(life.holds('owner')).toBe(4)
    pass(life, 24 * hour, 10 * minute)
    expect(victimsOf(life).filter((id) => id.startsWith('o'))).toEqual([])
  })
  it('should break no protected window, no drill and no limit', () => {
    const windowed = wanting(lending({}, { preemption: { minRuntimeMs: minutes(600) } }))
    pass(windowed, 4 * hour)
    expect(victimsOf(windowed)).toHaveLength(1)
    const undrilled = lending({}, { team: 'another' })
    pass(wanting(undrilled), 12 * hour)
    expect(victimsOf(undrilled)).toEqual([])
    expect(heldOf(undrilled, 'o0')).toMatchObject({ code: 'DrillNotPassed' })
    const limited = lending({ limits: { ...defaultLimits, preemptionsPerTeamHour: 1 } })
    pass(wanting(limited, 4), 4 * hour)
    expect(victimsOf(limited)).toHaveLength(1)
    pass(limited, 5 * hour)
    expect(victimsOf(limited)).toHaveLength(2)
  })
  it('should shrink who can before anybody stops', () => {
    const elasticity = { maxReplicas: 8, minReplicas: 1, resizeCostMs: minutes(1) }
    const life = lending()
    for (let i = 0; i < 8; i++) life.end(`b${i}`)
    life.submit('elastic', 8, { budget: 'borrower', queue: 'other', terms: { elasticity } }).tick()
    pass(wanting(life), 4 * hour)
    expect(preemptionsOf(life)[0]!.data.victims).toMatchObject([{ keeps: [{ devices: [0, 1, 2, 3, 4, 5, 6] }] }])
    expect(life.running).toEqual(['elastic', 'o0'])
  })
  it('should take no borrower below its own while another one still leaves', () => {
    const queues: QueuePolicy[] = [
      { name: 'default', ordering: 'greedy', cohort: 'all', lendingDeadlineMs: minutes(60), quotas: quotaOf(2) },
      { name: 'second', ordering: 'greedy', cohort: 'all', lendingDeadlineMs: minutes(60), quotas: quotaOf(2) },
      { name: 'other', ordering: 'greedy', cohort: 'all', quotas: quotaOf(2) },
      { name: 'more', ordering: 'greedy', cohort: 'all', quotas: quotaOf(0) },
    ]
    const life = new CellLife()
      .policy(budgetPolicy({ owner: 0, borrower: 1 }, { queues, cohorts }))
      .nodes(1, 6, 'x')
      .drilled('owner', 'borrower')
    for (let i = 0; i < 3; i++) life.submit(`b${i}`, 1, { budget: 'borrower', queue: 'other' })
    for (let i = 0; i < 3; i++) life.submit(`m${i}`, 1, { budget: 'borrower', queue: 'more' })
    life.tick()
    for (let i = 0; i < 2; i++)
      life.submit(`o${i}`, 1, { budget: 'owner' }).submit(`p${i}`, 1, { budget: 'owner', queue: 'second' })
    pass(life, hour)
    expect(victimsOf(life).filter((id) => id.startsWith('b'))).toHaveLength(1)
    expect(victimsOf(life)).toHaveLength(4)
  })
  it('should decide the same after a restart', () => {
    const life = wanting(lending().at(hour))
    pass(life, 5 * hour - minute, minute)
    const again = new CellLife(life.now)
    Object.assign(again, { cell: fork(life.cell) })
    for (const each of [life, again]) pass(each, 5 * hour)
    expect(preemptionsOf(again)).toEqual(preemptionsOf(life))
    expect(preemptionsOf(again)).toHaveLength(1)
  })
})
