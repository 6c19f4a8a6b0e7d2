import { expect, it } from 'vitest'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import type { CellDecision } from '../../../../domain/planner/cell-event.ts'
import type { CellLife } from '../../../support/cell-life.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { defaultLimits as policyLimits } from '../../../../domain/policy/contract-policy.ts'
import { devices, kueuePolicy, lifeOf, queue } from './kueue-life.ts'

const own = { withinQueue: 'lowerPriority' } as const
const reclaims = { reclaimWithinCohort: 'any' } as const

/** Whose attempts were evicted, sorted. */
const evicted = (decisions: ReadonlyArray<CellDecision>): ReadonlyArray<string> =>
  decisions
    .flatMap((decision) => (decision.type === 'PreemptionDecided' ? decision.data.victims : []))
    .map(({ workload }) => workload)
    .sort()

const start = (life: CellLife, id: string, count: number, where: { queue: string; class?: string }): CellLife => {
  life.at(life.now + 1).submit(id, count, { class: 'middle', ...where })
  life.tick()
  return life
}

it('should evict as few of the lowest priority as make room, and let those come back who are not needed', () => {
  const life = lifeOf(kueuePolicy([queue('a', 6, own)]), 8)
  start(life, 'two', 2, { queue: 'a', class: 'low' })
  start(life, 'three', 3, { queue: 'a', class: 'low' })
  start(life, 'one', 1, { queue: 'a' })
  life.at(10).submit('high', 3, { queue: 'a', class: 'high' })
  expect(evicted(life.tick())).toEqual(['three'])
  expect(life.running).toEqual(['high', 'one', 'two'])
})

it('should reclaim from whoever borrows and leave alone whoever is within nominal quota', () => {
  const life = lifeOf(kueuePolicy([queue('a', 3, reclaims), queue('b', 3), queue('c', 3)]), 10)
  for (const id of ['b1', 'b2', 'b3']) start(life, id, 1, { queue: 'b', class: 'low' })
  for (const id of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']) start(life, id, 1, { queue: 'c', class: 'high' })
  life.at(20).submit('a1', 2, { queue: 'a', class: 'low' })
  expect(evicted(life.tick())).toEqual(['c5', 'c6'])
})

it('should not reclaim what a queue keeps for itself, nor for a workload that would borrow', () => {
  const life = lifeOf(kueuePolicy([queue('a', 2, reclaims), queue('b', 4)]), 6)
  start(life, 'b1', 4, { queue: 'b', class: 'low' })
  life.submit('a1', 3, { queue: 'a', class: 'high' })
  expect(evicted(life.tick())).toEqual([])
  expect(life.reason('a1')).toBe('WaitingForQuota')
})

it('should borrow by eviction only from lower priority, up to the threshold', () => {
  const borrows = { reclaimWithinCohort: 'any', borrowWithinCohort: 'lowerPriority', borrowPriorityMax: -1 } as const
  const life = lifeOf(kueuePolicy([queue('a', 1, borrows), queue('b', 1), queue('c', 2)]), 4)
  start(life, 'b1', 2, { queue: 'b', class: 'low' })
  start(life, 'c1', 2, { queue: 'c' })
  life.at(9).submit('a1', 2, { queue: 'a', class: 'high' })
  const decisions = life.tick()
  expect(evicted(decisions)).toEqual(['b1'])
  const decided = decisions.find(({ type }) => type === 'PreemptionDecided')
  expect(decided?.data).toMatchObject({ rule: 'spec.queues[0].preemption.borrowWithinCohort' })
})

it('should keep the place, and the quota, of whoever waits for commands to be obeyed', () => {
  const life = lifeOf(kueuePolicy([queue('a', 2, own)], { mode: 'automate' }), 4)
  life.submit('low', 2, { queue: 'a', class: 'low' })
  life.tick()
  const conclude = (command: string, verb: 'start' | 'evict') =>
    life.tell({
      type: 'CommandConcluded',
      at: life.now as EpochMs,
      data: { attempt: 1, command, outcome: 'done', reason: null, verb, workload: 'low' },
    })
  life.at(1).submit('high', 2, { queue: 'a', class: 'high' })
  life.tick()
  expect(life.reason('high')).toBe('ProtectedWindow')
  conclude('low/1/start', 'start')
  const decisions = life.tick()
  const command = decisions.find(({ type }) => type === 'CommandIssued')
  expect(command?.data).toMatchObject({
    verb: 'evict',
    preemptor: 'high',
    rule: 'spec.queues[0].preemption.withinQueue',
  })
  expect(life.reason('high')).toBe('WaitingForVictims')
  life.at(2).submit('other', 2, { queue: 'a', class: 'high' })
  life.tick()
  expect(life.running).toEqual(['low'])
  conclude('low/1/evict/1', 'evict')
  life.tick()
  expect(life.running).toEqual(['high'])
  expect(life.reason('other')).toBe('WaitingForQuota')
})

it('should count evictions against the limit of a team', () => {
  const limits = { preemptionsPerTeamHour: 1 }
  const policy = kueuePolicy([queue('a', 2, own)])
  const life = lifeOf({ ...policy, limits: { ...policyLimits, ...limits } }, 4)
  start(life, 'low1', 1, { queue: 'a', class: 'low' })
  start(life, 'low2', 1, { queue: 'a', class: 'low' })
  start(life, 'high1', 1, { queue: 'a', class: 'high' })
  expect(life.running).toEqual(['high1', 'low1'])
  start(life, 'high2', 1, { queue: 'a', class: 'high' })
  expect(life.running).toEqual(['high1', 'low1'])
  expect(life.reason('high2')).toBe('PreemptionRateLimited')
  life.at(life.now + 3_600_000).tick()
  expect(life.running).toEqual(['high1', 'high2'])
})

it('should take the next accelerator of its queue that it accepts where the first has no quota left', () => {
  const quotas = ['x', 'y'].map((accelerator) => ({ ...devices(2), accelerator }))
  const policy = kueuePolicy([{ name: 'a', ordering: 'greedy', quotas }])
  const life = lifeOf(policy, 0)
  life.nodes(2, 2, 'x').nodes(2, 2, 'y')
  const model = (id: string) => {
    const [part] = life.cell.workloads.get(id)?.run?.parts ?? []
    return part === undefined ? null : life.cell.fleet.nodes[part.node]!.model
  }
  start(life, 'one', 2, { queue: 'a' })
  start(life, 'two', 2, { queue: 'a' })
  life.submit('three', 1, { queue: 'a', class: 'middle', request: requestOf({ models: ['x'] }) })
  life.tick()
  expect([model('one'), model('two'), model('three')]).toEqual(['x', 'y', null])
  expect(life.reason('three')).toBe('WaitingForQuota')
})
