import { describe, expect, it } from 'vitest'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf, whyWithHints } from '../../../projections/explain/why.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { defaultClass } from '../../../domain/policy/budget-policy.ts'
import { defaultCaps, defaultContract, defaultLimits } from '../../../domain/policy/contract-policy.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, minutes } from '../../support/cell-life.ts'
import { devices, kueuePolicy, lifeOf, queue } from '../../domain/planner/kueue/kueue-life.ts'

const toldOf = (life: CellLife, workload: string): string =>
  whyText(whyOf(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')

it('should say how much of its quota is left, by the books of its queue', () => {
  const life = lifeOf(kueuePolicy([{ name: 'a', ordering: 'greedy', quotas: [devices(3)] }]), 8)
  life.submit('first', 2, { queue: 'a', class: 'middle' }).submit('second', 2, { queue: 'a', class: 'middle' }).tick()
  expect(whyOf(life.cell, 'second')).toMatchObject({
    code: 'WaitingForQuota',
    compared: { asked: 2000, available: 1000, nominal: 3000, used: 2000 },
  })
  expect(toldOf(life, 'second')).toContain(
    'it asks for 2 GPUs of quota, and queue a may use 1 more now, until others give back what they borrow or hold: of its own it has 3 and uses 2 (3 - 2 = 1).',
  )
})

it('should say what its cohort has left for it, where it may borrow any amount of that', () => {
  const lending = queue('b', 4, {}, { quotas: [devices(4, null, 2)] })
  const life = lifeOf(kueuePolicy([queue('a', 3), lending]), 8)
  life.submit('own', 4, { queue: 'a', class: 'middle' }).submit('second', 2, { queue: 'a', class: 'middle' }).tick()
  expect(toldOf(life, 'second')).toContain(
    'queue a may use 1 more now, until others give back what they borrow or hold: of its own it has 3 and uses 4, it may borrow any amount, and its cohort has 1 left for it.',
  )
})

it('should say what quota comes to at best of what can never start', () => {
  const life = lifeOf(kueuePolicy([queue('a', 3), queue('b', 2)]), 8)
  life.submit('huge', 6, { queue: 'a', class: 'middle' }).tick()
  expect(toldOf(life, 'huge')).toContain(
    'ExceedsMaxQuota: it asks for 6 GPUs; queue a could never use that many, whatever others hold (at most 5).',
  )
})

it('should say of what needs more than a quota ever comes to, or than a cap, that it never starts', () => {
  const life = lifeOf(kueuePolicy([queue('a', 3), queue('b', 2)]), 8)
  life.submit('huge', 6, { queue: 'a', class: 'middle' }).tick()
  expect(toldOf(life, 'huge')).toContain(
    'Projected never under this policy: the quota of queue a is too small for it, 5 at best.',
  )
  const capped = new CellLife().policy(budgetPolicy({ a: 1 }, { caps: { ...defaultCaps, perTeamMilli: 2000 } }))
  capped.nodes(1, 8).submit('wide', 3, { budget: 'a' }).submit('one', 1, { budget: 'a' }).tick()
  expect(toldOf(capped, 'wide')).toContain('Projected never under this policy: the cap is 2, and it needs 3.')
  capped.submit('two', 2, { budget: 'a' }).tick()
  expect(capped.reason('two')).toBe('OverQueueLimit')
  expect(toldOf(capped, 'two')).not.toContain('never')
})

it('should say of one on hold that it starts when it is released, whatever was known of its start', () => {
  const life = lifeOf(kueuePolicy([queue('a', 3)]), 8)
  life.submit('first', 3, { queue: 'a', class: 'middle', estimateMs: minutes(30) }).tick()
  life.submit('second', 3, { queue: 'a', class: 'middle' }).tick()
  life.tell({ type: 'HoldRequested', at: 0 as EpochMs, data: { actor: 'ann', reason: null, workload: 'second' } })
  life.tick()
  expect(toldOf(life, 'second')).toContain('Projected not before it is released.')
})

it('should say that the fleet has none of what the queue has quota for', () => {
  const life = new CellLife().nodes(2, 8, 'a100').policy(kueuePolicy([queue('a', 8)]))
  life.submit('none', 4, { queue: 'a', class: 'middle' }).tick()
  expect(life.cell.workloads.get('none')!.hold).toMatchObject({
    code: 'NoMatchingAccelerator',
    rule: 'spec.queues[0].quotas',
  })
  expect(toldOf(life, 'none')).toContain(
    'NoMatchingAccelerator: it needs 4 whole GPUs; queue a has quota for gpu only, and the fleet has none that could',
  )
  life.nodes(1, 8, 'gpu').tick()
  expect(life.running).toEqual(['none'])
})

it('should tell CPU and memory of quota in their units', () => {
  const host = { cpu: { nominal: 2500, borrowing: null, lending: null } }
  const memory = { memory: { nominal: 4096, borrowing: null, lending: null } }
  const life = lifeOf(
    kueuePolicy([
      { name: 'a', ordering: 'greedy', quotas: [{ ...devices(8), ...host }] },
      { name: 'b', ordering: 'greedy', quotas: [{ ...devices(8), ...memory }] },
    ]),
    8,
  )
  const cores = requestOf({ devices: 1, cpuMilli: 1500 })
  const mebibytes = requestOf({ devices: 1, hostMemoryMib: 3000 })
  for (const [id, queue, request] of [
    ['c0', 'a', cores],
    ['c1', 'a', cores],
    ['m0', 'b', mebibytes],
    ['m1', 'b', mebibytes],
  ] as const)
    life.submit(id, 1, { queue, class: 'middle', request })
  life.tick()
  expect(toldOf(life, 'c1')).toContain(
    'it asks for 1.5 cores of quota, and queue a may use 1 more now, until others give back what they borrow or hold: of its own it has 2.5 and uses 1.5 (2.5 - 1.5 = 1).',
  )
  expect(toldOf(life, 'm1')).toContain(
    'it asks for 3,000 MiB of quota, and queue b may use 1,096 more now, until others give back what they borrow or hold: of its own it has 4,096 and uses 3,000 (4,096 - 3,000 = 1,096).',
  )
})

describe('numbers of other reasons where quota is shared', () => {
  const own = { withinQueue: 'lowerPriority' } as const
  /** One of low class holds all there is, and one of high class wants it. */
  const wanted = (more: Partial<AllocationPolicy> = {}, preemption = {}) => {
    const life = lifeOf(kueuePolicy([queue('a', 2, own)], more), 2)
    life.submit('low', 2, { queue: 'a', class: 'low', preemption }).tick()
    life.at(1).submit('high', 2, { queue: 'a', class: 'high' }).tick()
    const why = whyOf(life.cell, 'high')
    return why?.state === 'waiting' ? { code: why.code, compared: why.compared, keptFor: why.keptFor } : null
  }

  it('should be those of the protected window', () => {
    expect(wanted({}, { minRuntimeMs: minutes(10) })).toMatchObject({
      code: 'ProtectedWindow',
      compared: { protectedAttempts: 1, untilMs: minutes(10) },
    })
  })

  it('should be those of the limits on evictions', () => {
    expect(wanted({ limits: { ...defaultLimits, preemptionsPerTeamHour: 0 } })).toMatchObject({
      code: 'PreemptionRateLimited',
      compared: { limitedAttempts: 1 },
    })
  })

  it('should be those of the missing drill, which nobody lacks who may never be evicted', () => {
    expect(wanted({ contract: { ...defaultContract, drillRequired: true } })).toMatchObject({
      code: 'DrillNotPassed',
      compared: { undrilledAttempts: 1 },
    })
    expect(wanted({ contract: { ...defaultContract, drillRequired: true } }, { tolerated: false })).toMatchObject({
      code: 'WaitingForQuota',
      compared: { asked: 2000, available: 0 },
    })
  })

  it('should be those of a cap, and of what is kept for a class; a raised cap is a hint', () => {
    const capped = lifeOf(kueuePolicy([queue('a', 4)], { caps: { ...defaultCaps, perTeamMilli: 1000 } }), 4)
    capped.submit('one', 1, { queue: 'a', class: 'middle' }).submit('two', 1, { queue: 'a', class: 'middle' }).tick()
    expect(whyOf(capped.cell, 'two')).toMatchObject({
      code: 'OverQueueLimit',
      compared: { heldMilli: 1000, capMilli: 1000 },
    })
    const limits = [{ rule: 'spec.caps.perTeam', resource: 'devices', from: 1000, to: 2000 }]
    expect(whyWithHints(capped.cell, 'two')).toMatchObject({
      hints: expect.arrayContaining([expect.objectContaining({ change: 'limits', limits })]) as unknown,
    })
    const classes = [{ ...defaultClass('debug'), reserveDevices: 1 }]
    const kept = lifeOf(kueuePolicy([queue('a', 4)], { classes }), 2)
    kept.submit('both', 2, { queue: 'a', class: 'middle' }).tick()
    expect(whyOf(kept.cell, 'both')).toMatchObject({
      code: 'WouldDelayReservation',
      compared: { freeDevices: 2, keptDevices: 1 },
      keptFor: ['class debug'],
    })
  })
})
