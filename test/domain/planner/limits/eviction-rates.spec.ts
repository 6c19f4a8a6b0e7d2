import { describe, expect, it } from 'vitest'
import { defaultLimits, type LimitsPolicy } from '../../../../domain/policy/contract-policy.ts'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { contested, decisionsOf, monday, victimsOf, type ContestedLife } from '../../../support/contested-life.ts'

/** Eight of a run, of two teams, and b asks for them one by one. */
const asking = (limits: Partial<LimitsPolicy>, wanted = 4): ContestedLife => {
  const life = contested(8, { limits: { ...defaultLimits, ...limits } })
  for (let i = 0; i < wanted; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  return life
}

describe('evictions of a team', () => {
  it('should be no more in any hour than the policy allows, and go on when the first is an hour old', () => {
    const life = asking({ preemptionsPerTeamHour: 2 })
    const first = life.pass(20 * minute)
    expect(victimsOf(first)).toHaveLength(2)
    const at = decisionsOf(first, 'PreemptionDecided')[0]!.at
    expect(life.reason('b2')).toBe('PreemptionRateLimited')
    expect(victimsOf(life.pass(at + hour - 1 - life.now))).toEqual([])
    expect(victimsOf(life.at(at + hour).tick())).toHaveLength(2)
  })
  it('should be counted by the team of the victim, not of who takes', () => {
    const life = contested(8, { limits: { ...defaultLimits, preemptionsPerTeamHour: 1 } }, { drilled: ['a', 'b', 'c'] })
    life.end('a7')
    life.end('a6')
    life.submit('c0', 1, { budget: 'a', team: 'c' }).submit('c1', 1, { budget: 'a', team: 'c' }).tick()
    for (let i = 0; i < 4; i++) life.submit(`b${i}`, 1, { budget: 'b' })
    const victims = victimsOf(life.pass(30 * minute))
    expect(victims.map(([team]) => team).sort()).toEqual(['a', 'c'])
  })
  it('should be none where the policy allows none, and any number where it does not say', () => {
    expect(victimsOf(asking({ preemptionsPerTeamHour: 0 }).pass(3 * hour))).toEqual([])
    expect(victimsOf(asking({ preemptionsPerTeamHour: null }).pass(20 * minute))).toHaveLength(4)
  })
  it('should be remembered over a restart', () => {
    const life = asking({ preemptionsPerTeamHour: 2 })
    life.pass(20 * minute)
    const again = life.restarted()
    expect(victimsOf(again.pass(49 * minute))).toEqual([])
    expect(victimsOf(again.pass(minute))).toHaveLength(2)
  })
})

describe('evictions in the cell', () => {
  it('should be no more in a minute than the policy allows', () => {
    const life = asking({ evictionsPerMinute: 1 })
    const decided = decisionsOf(life.pass(30 * minute), 'PreemptionDecided').map(({ at }) => at)
    expect(decided).toHaveLength(4)
    decided.slice(1).forEach((at, i) => {
      expect(at - decided[i]!).toBeGreaterThanOrEqual(minute)
    })
  })
  it('should say so while they break', () => {
    const life = asking({ evictionsPerMinute: 1 })
    const begun = monday + 10 * minute
    expect(victimsOf(life.at(begun).tick())).toHaveLength(1)
    expect(victimsOf(life.at(begun + minute - 1).tick())).toEqual([])
    expect(life.reason('b1')).toBe('PreemptionRateLimited')
    expect(life.cell.workloads.get('b1')!.hold!.rule).toBe('spec.limits.evictionsPerMinute')
    expect(victimsOf(life.at(begun + minute).tick())).toHaveLength(1)
  })
})

describe('a workload that was evicted so often', () => {
  const often = (promotionAfter: number | null) => {
    const life = contested(
      1,
      { limits: { ...defaultLimits, promotionAfter } },
      { budget: { reclaimAfterMs: minutes(0), turnMs: minutes(5) } },
    )
    life.submit('b0', 1, { budget: 'b' })
    const decisions = life.pass(12 * hour)
    const evicted = (id: string) => victimsOf(decisions).filter((victim) => victim === id).length
    return { decisions, evicted, life }
  }
  it('should be promoted once, said once, and be no victim any more', () => {
    const { decisions, evicted, life } = often(2)
    const promoted = decisionsOf(decisions, 'WorkloadPromoted').map(({ data }) => data)
    expect(new Set(promoted.map(({ workload }) => workload)).size).toBe(promoted.length)
    expect(promoted.length).toBeGreaterThan(0)
    for (const { preemptions, workload } of promoted) expect([preemptions, evicted(workload)]).toEqual([2, 2])
    const [running] = life.running
    expect(life.protection(running!)).toBe('promoted')
  })
  it('should be charged on while it is promoted', () => {
    const { life } = often(1)
    const [running] = life.running
    const { ledger } = life.cell.books!
    const node = ledger.node(running!.startsWith('a') ? 'a' : 'b')!
    const before = ledger.read(node).charged
    life.pass(hour)
    expect(Number(ledger.read(node).charged - before)).toBe(1000 * hour)
  })
  it('should be promoted by a policy that is content with fewer, and no longer by one that is not', () => {
    const { life } = often(null)
    const [running] = life.running
    const { preemptions } = life.cell.workloads.get(running!)!
    expect(preemptions).toBeGreaterThan(2)
    const allowing = (promotionAfter: number) =>
      budgetPolicy({ a: 1, b: 1 }, { limits: { ...defaultLimits, promotionAfter } })
    life.policy(allowing(2))
    const told = decisionsOf(life.tick(), 'WorkloadPromoted').map(({ data }) => data)
    expect(told.map(({ workload }) => workload).sort()).toEqual(['a0', 'b0'])
    expect(told.find(({ workload }) => workload === running)!.preemptions).toBe(preemptions)
    expect(life.protection(running!)).toBe('promoted')
    const again = life.restarted()
    for (const each of [life, again])
      expect(decisionsOf(each.policy(allowing(1)).pass(minute), 'WorkloadPromoted')).toEqual([])
    life.policy(allowing(1000))
    expect(life.protection(running!)).not.toBe('promoted')
    expect(decisionsOf(life.policy(allowing(2)).pass(minute), 'WorkloadPromoted')).toHaveLength(2)
  })
  it('should be evicted for ever where the policy says so', () => {
    const { decisions, evicted } = often(null)
    expect(decisionsOf(decisions, 'WorkloadPromoted')).toEqual([])
    expect(evicted('a0')).toBeGreaterThan(3)
  })
  it('should still be stopped by its own limits, like others', () => {
    const { life } = often(1)
    const [running] = life.running
    life.input('CancelRequested', { actor: 'u', reason: null, workload: running! })
    expect(life.running).not.toContain(running)
  })
})

it('should look for no more sets of victims in one pass than the policy allows, and say so', () => {
  const life = contested(8, { limits: { ...defaultLimits, searchMax: 1 } })
  for (let i = 0; i < 3; i++) life.submit(`b${i}`, 1, { budget: 'b', terms: { submitter: `u${i}` } })
  const decisions = life.at(monday + 30 * minute).tell({ type: 'Ticked', at: life.now as never, data: {} })
  expect(victimsOf(decisions)).toHaveLength(1)
  const told = decisionsOf(decisions, 'WorkloadHeld').filter(({ data }) => data.code === 'SearchBudgetExhausted')
  expect(told.map(({ data }) => data.rule)).toEqual(['spec.limits.searchMax', 'spec.limits.searchMax'])
})
