import { expect, it } from 'vitest'
import { comparedBy } from '../../../domain/planner/reason-code.ts'
import { defaultLimits, type LimitsPolicy } from '../../../domain/policy/contract-policy.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { minutes, type CellLife } from '../../support/cell-life.ts'
import { contested, victimsOf } from '../../support/contested-life.ts'
import { kueuePolicy, lifeOf, queue } from '../../domain/planner/kueue/kueue-life.ts'

const reasonOf = (life: CellLife, workload: string) => {
  life.cell.now = life.now as typeof life.cell.now
  const why = whyOf(life.cell, workload)!
  if (why.state !== 'waiting') throw new Error('it waits')
  const text = whyText(why)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
  return { why, reason: /^Reason (.*)$/m.exec(text)![1]! }
}

const limited = (limits: Partial<LimitsPolicy>) => {
  const life = contested(4, { limits: { ...defaultLimits, ...limits } }, { budget: { reclaimAfterMs: minutes(10) } })
  life.submit('b0', 1, { budget: 'b' }).submit('b1', 1, { budget: 'b' })
  return life
}

it('should say what one decision would lose, and what it may', () => {
  const life = limited({ lossMaxMilliUnitHours: 100 })
  expect(victimsOf(life.pass(minutes(30)))).toEqual([])
  const { reason, why } = reasonOf(life, 'b0')
  expect(why).toMatchObject({ code: 'PreemptionRateLimited', rule: 'spec.limits.lossMax' })
  expect(why.compared).toEqual({ lossMaxMilliUnitHours: 100, lossMilliUnitHours: 500 })
  for (const name of Object.keys(why.compared)) expect(comparedBy.PreemptionRateLimited).toContain(name)
  expect(reason).toBe(
    'PreemptionRateLimited: its side is owed the room, but what would have to leave would lose 0.5 GPU-hours of work since its last checkpoints, and one decision may lose 0.1.',
  )
  // The cell is as it was: what is asked decides nothing.
  expect(life.running).toEqual(['a0', 'a1', 'a2', 'a3'])
  expect(victimsOf(life.checkpoint('a1').tick())).toEqual(['a1'])
})

it.each([
  [{ preemptionsPerTeamHour: 1 }, 'as many of one team were evicted as the policy allows in an hour'],
  [{ evictionsPerMinute: 0 }, 'as many of the pool were evicted as the policy allows in a minute'],
])('should say which limit of the policy is reached by %o', (limits, told) => {
  const life = limited(limits)
  life.pass(minutes(30))
  const waits = ['b0', 'b1'].find((id) => life.reason(id) === 'PreemptionRateLimited')!
  expect(reasonOf(life, waits).reason).toContain(told)
})

it('should say that too much work would be lost also where quota is shared', () => {
  const limits = { ...defaultLimits, lossMaxMilliUnitHours: 100 }
  const own = { withinQueue: 'lowerPriority' } as const
  const life = lifeOf({ ...kueuePolicy([queue('a', 1, own)]), limits }, 4)
  life.submit('low', 1, { queue: 'a', class: 'low' }).tick()
  life
    .at(life.now + minutes(30))
    .submit('high', 1, { queue: 'a', class: 'high' })
    .tick()
  expect(reasonOf(life, 'high').reason).toContain(
    'would lose 0.5 GPU-hours of work since its last checkpoints, and one decision may lose 0.1',
  )
})
