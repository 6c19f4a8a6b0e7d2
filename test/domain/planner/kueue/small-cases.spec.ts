import { describe, expect, it } from 'vitest'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { devices, kueuePolicy, lifeOf, queue } from './kueue-life.ts'

const own = { withinQueue: 'lowerPriority' } as const
const reclaims = { reclaimWithinCohort: 'any' } as const

describe('quota in the planner', () => {
  it('should admit what quota allows and hold the rest with the numbers of its quota', () => {
    const life = lifeOf(kueuePolicy([{ name: 'a', ordering: 'greedy', quotas: [devices(2)] }]))
    life.submit('one', 1, { queue: 'a', class: 'middle' }).submit('two', 2, { queue: 'a', class: 'middle' })
    const decisions = life.tick()
    expect(life.running).toEqual(['one'])
    const held = decisions.find(({ type }) => type === 'WorkloadHeld')
    expect(held?.data).toMatchObject({
      code: 'WaitingForQuota',
      compared: { asked: 2000, available: 1000 },
      rule: 'spec.queues[0].quotas',
      workload: 'two',
    })
    life.end('one')
    life.tick()
    expect(life.running).toEqual(['two'])
  })

  it('should lend what is idle and take it back at once when its owner comes', () => {
    const life = lifeOf(kueuePolicy([queue('a', 2, reclaims), queue('b', 2, reclaims)]))
    for (const id of ['a1', 'a2', 'a3', 'a4']) {
      life.at(life.now + 1).submit(id, 1, { queue: 'a', class: 'middle' })
      life.tick()
    }
    expect(life.running).toHaveLength(4)
    life.at(10).submit('b1', 2, { queue: 'b', class: 'low' })
    const decisions = life.tick()
    expect(life.running).toEqual(['a1', 'a2', 'b1'])
    const decided = decisions.find(({ type }) => type === 'PreemptionDecided')
    expect(decided?.data).toMatchObject({ rule: 'spec.queues[1].preemption.reclaimWithinCohort', side: null })
    expect(life.reason('a4')).toBe('BehindInQueue')
    expect(life.reason('a3')).toBe('WaitingForQuota')
  })

  it('should evict whoever has the lowest priority within the queue, and nobody of the same', () => {
    const life = lifeOf(kueuePolicy([queue('a', 3, own)]))
    life.submit('low', 1, { queue: 'a', class: 'low' })
    life.submit('middle', 1, { queue: 'a', class: 'middle' })
    life.submit('high', 1, { queue: 'a', class: 'high' })
    life.tick()
    life.at(1).submit('next', 1, { queue: 'a', class: 'high' })
    life.tick()
    expect(life.running).toEqual(['high', 'middle', 'next'])
    life.at(2).submit('more', 2, { queue: 'a', class: 'high' })
    life.tick()
    expect(life.running).toEqual(['high', 'middle', 'next'])
    expect(life.reason('more')).toBe('WaitingForQuota')
  })

  it('should refuse a queue more than it could ever hold', () => {
    const life = lifeOf(kueuePolicy([queue('a', 1, {}, { quotas: [devices(1, 1)] }), queue('b', 3)]))
    life.submit('big', 3, { queue: 'a', class: 'middle' })
    life.tick()
    expect(life.reason('big')).toBe('ExceedsMaxQuota')
  })

  it('should let nobody pass the head of a strict queue, and let others pass in a greedy one', () => {
    for (const ordering of ['fifo', 'greedy'] as const) {
      const life = lifeOf(kueuePolicy([queue('a', 2, {}, { ordering }), queue('b', 0)]))
      life.submit('first', 1, { queue: 'a', class: 'middle' })
      life.submit('large', 2, { queue: 'a', class: 'middle' })
      life.submit('small', 1, { queue: 'a', class: 'low' })
      life.tick()
      expect(life.running).toEqual(ordering === 'fifo' ? ['first'] : ['first', 'small'])
      expect(life.reason('large')).toBe('WaitingForQuota')
      if (ordering === 'fifo') expect(life.reason('small')).toBe('BehindInQueue')
    }
  })

  it('should start as many replicas as quota allows, and no fewer than are enough', () => {
    const life = lifeOf(kueuePolicy([queue('a', 3)]))
    const elasticity = { minReplicas: 2, maxReplicas: 4, resizeCostMs: 0 as never }
    life.submit('elastic', 4, { queue: 'a', class: 'middle', terms: { elasticity } })
    life.tick()
    const parts = life.cell.workloads.get('elastic')?.run?.parts ?? []
    expect(parts.reduce((sum, part) => sum + part.devices.length, 0)).toBe(3)
  })

  it('should hold what quota admits and no node has room for, as lacking a place', () => {
    const life = lifeOf(kueuePolicy([queue('a', 8)]))
    life.submit('one', 1, { queue: 'a', class: 'middle' }).submit('two', 1, { queue: 'a', class: 'middle' })
    life.tick()
    life.submit('three', 3, { queue: 'a', class: 'middle' })
    life.tick()
    expect(life.reason('three')).toBe('WaitingForCapacity')
    life.end('one')
    life.tick()
    expect(life.running).toEqual(['three', 'two'])
  })

  it('should leave alone whoever is in a protected window until it is over', () => {
    const life = lifeOf(kueuePolicy([queue('a', 1, own)]))
    life.submit('low', 1, { queue: 'a', class: 'low', preemption: { minRuntimeMs: 100 as never } })
    life.tick()
    life.at(50).submit('high', 1, { queue: 'a', class: 'high' })
    life.tick()
    expect(life.running).toEqual(['low'])
    expect(life.reason('high')).toBe('ProtectedWindow')
    life.at(99).tick()
    expect(life.running).toEqual(['low'])
    life.at(100).tick()
    expect(life.running).toEqual(['high'])
  })

  it('should waive what attempts are promised where loops are compatible', () => {
    const life = lifeOf(kueuePolicy([queue('a', 1, own)], { kueue: { fairSharing: null, loops: 'compatible' } }))
    life.submit('low', 1, { queue: 'a', class: 'low', preemption: { minRuntimeMs: 100 as never, tolerated: false } })
    life.tick()
    life.at(50).submit('high', 1, { queue: 'a', class: 'high' })
    life.tick()
    expect(life.running).toEqual(['high'])
  })

  it('should keep what is free of a device for whom the rest of it is made free', () => {
    const life = lifeOf(kueuePolicy([queue('a', 3, own), queue('b', 1)]), 2)
    life.submit('low', 1, { queue: 'a', class: 'low', request: requestOf({ milli: 500 }) })
    life.tick()
    life.at(1).submit('high', 2, { queue: 'a', class: 'high' })
    life.submit('half', 1, { queue: 'b', class: 'middle', request: requestOf({ milli: 500 }) })
    life.tick()
    expect(life.running).toEqual(['high'])
    expect(life.reason('half')).toBe('WaitingForCapacity')
  })

  it('should start on another accelerator whose place on the first another queue took at that instant', () => {
    const quota = (accelerator: string, nominal: number) => ({ ...devices(nominal), accelerator })
    const policy = kueuePolicy([
      { name: 'a', ordering: 'greedy', quotas: [quota('x', 1), quota('y', 2)] },
      { name: 'b', ordering: 'greedy', quotas: [quota('y', 4)] },
    ])
    const life = lifeOf(policy, 0).nodes(1, 4, 'y').nodes(1, 1, 'x')
    const elasticity = { minReplicas: 1, maxReplicas: 2, resizeCostMs: 0 as never }
    life.submit('other', 2, { queue: 'a', class: 'low', terms: { elasticity } })
    life.submit('whole', 4, { queue: 'b', class: 'high' })
    life.tell({ type: 'Ticked', at: 0 as never, data: {} })
    expect(life.running).toEqual(['other', 'whole'])
  })
})
