import { describe, expect, it } from 'vitest'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { ContestedLife, decisionsOf, monday, victimsOf } from '../../../support/contested-life.ts'
import type { AllocationPolicy } from '../../../../domain/policy/allocation-policy.ts'

const day = 24 * hour
const firm = { preemption: { tolerated: false } }

/** Programs a and b with 4 of 8 devices each; a's job of eight is undrilled. */
const large = (more: Partial<AllocationPolicy> = {}): ContestedLife =>
  new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }, { mode: 'automate', ...more }))
    .nodes(1, 8)
    .submit('large', 8, { budget: 'a' })

describe('work that may not be evicted', () => {
  it('should start beyond the entitlement of a program that holds nothing, for a day', () => {
    const life = large()
    const [admitted] = decisionsOf(life.tick(), 'WorkloadAdmitted')
    expect(admitted!.data).toMatchObject({ limitAt: monday + day, workload: 'large' })
    life.started().submit('b0', 4, { budget: 'b' })
    expect(victimsOf(life.pass(day - minute))).toEqual([])
    const asked = decisionsOf(life.pass(minute), 'CommandIssued')
    expect(asked.map(({ data }) => [data.because, data.verb, data.workload])).toEqual([
      ['time-limit', 'evict', 'large'],
    ])
    expect(decisionsOf(life.pass(hour), 'CommandIssued')).toEqual([])
    expect(decisionsOf(life.conclude('large'), 'AttemptStopped')[0]!.data).toMatchObject({
      requeued: true,
      rule: 'spec.budgets.undrilledMax',
    })
    life.tick()
    expect(life.running).toEqual(['b0'])
    expect(life.cell.workloads.get('large')!.hold).not.toBeNull()
  })
  it('should be asked again where it does not leave in time, and where its adapter refuses', () => {
    const life = large()
    life.tick()
    life
      .started()
      .at(monday + day)
      .tick()
    life.conclude('large', 'refused')
    expect(decisionsOf(life.conclude('large', 'expired'), 'CommandIssued')).toHaveLength(1)
  })
  it('should start within it without any limit, also beside others', () => {
    const life = large()
    life.input('CancelRequested', { actor: 'u', reason: null, workload: 'large' })
    life.submit('a0', 2, { budget: 'a', ...firm }).submit('a1', 2, { budget: 'a', ...firm })
    life.submit('a2', 1, { budget: 'a', ...firm })
    const admitted = decisionsOf(life.tick(), 'WorkloadAdmitted')
    expect(admitted.map(({ data }) => [data.workload, data.limitAt])).toEqual([
      ['a0', undefined],
      ['a1', undefined],
    ])
    expect(life.reason('a2')).toBe('NonPreemptibleOverQuota')
    expect(decisionsOf(life.started().pass(2 * day), 'CommandIssued')).toEqual([])
  })
  it('should be one such at a time', () => {
    const life = large()
      .nodes(1, 8)
      .submit('large-too', 8, { budget: 'a', ...firm })
    life.submit('larger', 9, { budget: 'a', ...firm })
    life.tick()
    expect(life.running).toEqual(['large'])
    life.end('large')
    life.tick()
    expect(life.running).toEqual(['large-too'])
  })
  it('should go on where it may be evicted by then, or is excepted', () => {
    const life = large()
    life.tick()
    life
      .started()
      .at(monday + hour)
      .drill('a', 'passed')
    expect(decisionsOf(life.at(monday + day).tick(), 'CommandIssued')).toEqual([])
    expect(victimsOf(life.submit('b0', 4, { budget: 'b' }).pass(hour))).toEqual(['large'])
  })
  it('should be let beyond it by an exception, without a limit, as long as that holds', () => {
    const exceptions = [
      {
        allows: { kind: 'non-preemptible-over-entitlement' },
        expires: '2026-08-04',
        name: 'launch',
        owner: 'Ann',
        reason: 'The launch.',
        subject: { kind: 'budget', name: 'a' },
      },
    ] as const
    const life = large({ exceptions }).submit('more', 2, { budget: 'a', ...firm })
    life.input('CancelRequested', { actor: 'u', reason: null, workload: 'large' })
    life.submit('five', 5, { budget: 'a', ...firm })
    const admitted = decisionsOf(life.tick(), 'WorkloadAdmitted')
    expect(admitted.map(({ data }) => data.limitAt)).toEqual([undefined, undefined])
    life.end('more')
    life
      .at(Date.UTC(2026, 7, 4))
      .submit('late', 1, { budget: 'a', ...firm })
      .tick()
    expect(life.reason('late')).toBe('NonPreemptibleOverQuota')
  })
  it('should have as long as the policy says', () => {
    const policy = budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }, { undrilledMaxMs: minutes(90) })
    const life = new ContestedLife(monday).policy(policy).nodes(1, 8).submit('large', 8, { budget: 'a' })
    expect(decisionsOf(life.tick(), 'WorkloadAdmitted')[0]!.data.limitAt).toBe(monday + 90 * minute)
  })
})
