import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { prioOf, type PrioAnswer } from '../../../projections/explain/prio.ts'
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
