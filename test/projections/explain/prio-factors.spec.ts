import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { prioOf, type PrioAnswer } from '../../../projections/explain/prio.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { defaultUsageOrdering, type KueuePolicy } from '../../../domain/policy/quota-policy.ts'
import { kueuePolicy, lifeOf, queue } from '../../domain/planner/kueue/kueue-life.ts'
import { decisionsOf } from '../../support/contested-life.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, hour } from '../../support/cell-life.ts'

const toldOf = ({ cell }: CellLife, workload: string): PrioAnswer => {
  const told = prioOf(cell, workload)
  if (told === null || typeof told === 'string') throw new Error(`${workload}: ${told}`)
  return told
}

const near = (value: number) => expect.closeTo(value, 6) as unknown as number

const of = (budget: string, submitter: string) => ({ budget, terms: { submitter } })

it('should show the level shares of a fair tree, in the order in which they are compared', () => {
  const policy: AllocationPolicy = {
    ...budgetPolicy({ A: 40, B: 60 }),
    fairTree: { halfLifeMs: 0 as DurationMs },
    sharing: 'fair-tree',
  }
  const life = new CellLife().policy(policy).nodes(1, 8)
  life.submit('a1-ran', 1, of('A', 'a1')).submit('a2-ran', 3, of('A', 'a2')).submit('b1-ran', 4, of('B', 'b1')).tick()
  life.at(hour)
  for (const id of ['a1-ran', 'a2-ran', 'b1-ran']) life.end(id)
  life.submit('fills', 8, of('B', 'b2')).tick()
  for (const person of ['a1', 'a2']) life.submit(person, 1, of('A', person))
  life.submit('b1', 1, of('B', 'b1')).tick()
  const [accounts, users] = toldOf(life, 'a2').levels
  expect(accounts).toMatchObject({ by: 'fair-tree', parent: '' })
  expect(accounts!.siblings).toEqual([
    {
      node: 'B',
      own: false,
      rank: 1,
      waiting: 1,
      share: 60,
      usageMilliUnitH: 4000,
      levelShare: near(1.2),
    },
    { node: 'A', own: true, rank: 2, waiting: 2, share: 40, usageMilliUnitH: 4000, levelShare: near(0.8) },
  ])
  expect(users!.siblings).toMatchObject([
    { node: 'A/a1', rank: 1, usageMilliUnitH: 1000, levelShare: near(2) },
    { node: 'A/a2', rank: 2, usageMilliUnitH: 3000, levelShare: near(2 / 3) },
  ])
  // Whoever has used nothing goes before any number.
  life.submit('new', 1, of('A', 'new')).tick()
  expect(toldOf(life, 'new').levels[1]!.siblings[0]).toMatchObject({ node: 'A/new', levelShare: null, rank: 1 })
})

it('should rank accounts that tie by the first of their users, as the tree does', () => {
  const policy: AllocationPolicy = {
    ...budgetPolicy({ A: 50, B: 50 }),
    fairTree: { halfLifeMs: 0 as DurationMs },
    sharing: 'fair-tree',
  }
  const life = new CellLife().policy(policy).nodes(1, 8)
  life.submit('b1-ran', 1, of('B', 'b1')).submit('b2-ran', 3, of('B', 'b2')).submit('a1-ran', 4, of('A', 'a1')).tick()
  life.at(hour)
  for (const id of ['a1-ran', 'b1-ran', 'b2-ran']) life.end(id)
  life.submit('fills', 8, of('A', 'a2')).tick()
  life.submit('a1', 1, of('A', 'a1')).submit('b1', 1, of('B', 'b1')).tick()
  const siblings = toldOf(life, 'a1').levels[0]!.siblings
  expect(siblings.map(({ node, rank }) => [node, rank])).toEqual([
    ['B', 1],
    ['A', 2],
  ])
})

it('should show dominant shares over their weights, and of what', () => {
  const life = new CellLife().policy({ ...budgetPolicy({ a: 1, b: 3, c: 1 }), sharing: 'drf' })
  const data = { deviceMemoryMib: null, devices: 10, domain: null, hostMemoryMib: null, model: null, node: 'n' }
  life.tell({ type: 'NodeRegistered', at: 0 as EpochMs, data: { ...data, cpuMilli: 100_000 } })
  const cores = requestOf({ cpuMilli: 50_000, devices: 1 })
  life
    .submit('a-runs', 1, { ...of('a', 'ann'), request: cores })
    .submit('b-runs', 6, of('b', 'bob'))
    .tick()
  life.submit('a-waits', 9, of('a', 'ann')).submit('b-waits', 9, of('b', 'bob')).tick()
  const [level] = toldOf(life, 'a-waits').levels
  expect(level).toEqual({
    by: 'dominant-share',
    parent: '',
    siblings: [
      {
        node: 'b',
        own: false,
        rank: 1,
        waiting: 1,
        share: 3,
        resource: 'devices',
        held: 6000,
        total: 10_000,
        weighted: 0.2,
      },
      {
        node: 'a',
        own: true,
        rank: 2,
        waiting: 1,
        share: 1,
        resource: 'cpu',
        held: 50_000,
        total: 100_000,
        weighted: 0.5,
      },
      {
        node: 'c',
        own: false,
        rank: null,
        waiting: 0,
        share: 1,
        resource: 'devices',
        held: 0,
        total: 10_000,
        weighted: 0,
      },
    ],
  })
})

describe('where quota is shared', () => {
  /** Queues a and b of four, and c of one, which holds three; eight devices. */
  const shared = (fairSharing: KueuePolicy['fairSharing']): CellLife => {
    const cohorts = ['all', 'else'].map((name) => ({ name, parent: null, fairWeightMilli: 1000, quotas: [] }))
    const queues = [queue('a', 3), queue('b', 4), queue('c', 1), queue('d', 1, {}, { cohort: 'else' })]
    const life = lifeOf(kueuePolicy(queues, { cohorts, kueue: { fairSharing, loops: 'safe' } }), 8)
    for (const [id, named, devices, kind] of [
      ['c-ran', 'c', 3, 'middle'],
      ['b-ran', 'b', 1, 'middle'],
      ['a-ran', 'a', 3, 'middle'],
    ] as const)
      life.submit(id, devices, { queue: named, class: kind }).tick()
    // Nothing fits, so all of it waits for the one that is free.
    life.submit('c1', 1, { queue: 'c', class: 'high' }).submit('a1', 1, { queue: 'a', class: 'low' })
    life.submit('b1', 1, { queue: 'b', class: 'low' }).submit('b2', 1, { queue: 'b', class: 'middle' })
    return life
  }
  const seen = ({ levels }: PrioAnswer) =>
    levels.map(({ by, parent, siblings }) => [by, parent, siblings.map(({ node, own, rank }) => [node, own, rank])])

  it('should show who borrows, from how far up, the priority and the age, as a cycle compares them', () => {
    const life = shared(null)
    const told = toldOf(life, 'b1')
    expect(told).toMatchObject({ budget: null, queue: 'b', sharing: 'kueue' })
    expect(seen(told)).toEqual([
      [
        'borrowing',
        '',
        [
          ['b', true, 1],
          ['c', false, 2],
          ['a', false, 3],
          ['d', false, null],
        ],
      ],
    ])
    expect(told.levels[0]!.siblings.slice(0, 3)).toMatchObject([
      { first: 'b2', fits: 'now', borrows: false, borrowLevel: 0, priority: 0, waiting: 2, shareMilli: null },
      { first: 'c1', fits: 'now', borrows: true, borrowLevel: 1, priority: 1, waiting: 1 },
      { first: 'a1', fits: 'now', borrows: true, borrowLevel: 1, priority: -1, waiting: 1 },
    ])
    expect(told.leaf).toMatchObject({ by: 'class', usage: null, priority: -1, position: 2, ahead: ['b2'] })
    // As it is then decided.
    const [first] = decisionsOf(life.tick(), 'WorkloadAdmitted')
    expect(first!.data.workload).toBe('b2')
    expect(toldOf(life, 'c1').levels[0]!.siblings.map(({ node, rank }) => [node, rank])).toEqual(
      expect.arrayContaining([
        ['c', null],
        ['a', null],
      ]) as unknown,
    )
    // Nothing was decided by asking.
    const again = shared(null)
    expect(decisionsOf(again.tick(), 'WorkloadAdmitted')).toEqual([first])
  })

  it('should show the shares of a cohort with what is asked for, before priorities', () => {
    const told = toldOf(shared(['lessThanOrEqualToFinalShare']), 'c1')
    expect(seen(told)).toEqual([
      [
        'priority',
        '',
        [
          ['all', true, 1],
          ['else', false, null],
        ],
      ],
      [
        'quota-share',
        'all',
        [
          ['b', false, 1],
          ['a', false, 2],
          ['c', true, 3],
        ],
      ],
    ])
    // Of eight that could be lent in its cohort: one, and three, beyond its own.
    expect(told.levels[1]!.siblings).toMatchObject([
      { first: 'b2', borrows: false, shareMilli: 0 },
      { first: 'a1', borrows: true, shareMilli: 125, shareResource: 'devices' },
      { first: 'c1', borrows: true, shareMilli: 375, shareResource: 'devices' },
    ])
  })

  it('should say what the team has used where that orders a queue', () => {
    const usageOrdering = { ...defaultUsageOrdering, halfLifeMs: hour as DurationMs }
    const policy = kueuePolicy([queue('a', 2)], { kueue: { fairSharing: null, loops: 'safe', usageOrdering } })
    const life = lifeOf(policy, 2)
    life.submit('t-ran', 2, { queue: 'a', team: 't' }).tick()
    life.at(hour)
    life.end('t-ran')
    life.submit('fills', 2, { queue: 'a', team: 'v' }).tick()
    life.submit('t1', 1, { queue: 'a', team: 't' }).submit('u1', 1, { queue: 'a', team: 'u' }).tick()
    expect(toldOf(life, 't1').leaf).toMatchObject({ by: 'usage', position: 2, ahead: ['u1'] })
    expect(toldOf(life, 't1').leaf.usage).toBeGreaterThan(toldOf(life, 'u1').leaf.usage!)
  })
})

it('should show the order of a queue where nothing else is shared', () => {
  const life = new CellLife().policy(defaultPolicy).nodes(1, 1)
  life.submit('ran', 1).submit('first', 1).submit('second', 1).tick()
  expect(toldOf(life, 'second')).toMatchObject({
    budget: null,
    levels: [],
    leaf: { by: 'age', position: 2, ahead: ['first'] },
  })
})
