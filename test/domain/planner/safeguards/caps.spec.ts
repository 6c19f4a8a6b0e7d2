import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExceptionPolicy } from '../../../../domain/policy/contract-policy.ts'
import { defaultCaps } from '../../../../domain/policy/contract-policy.ts'
import type { AllocationPolicy } from '../../../../domain/policy/allocation-policy.ts'
import { budgetPolicy, hour } from '../../../support/cell-life.ts'
import { ContestedLife, decisionsOf, monday } from '../../../support/contested-life.ts'

const tuesday = Date.UTC(2026, 7, 4)

const capped = (more: Partial<AllocationPolicy>, capMilli: number | null = null): ContestedLife => {
  const policy = budgetPolicy({ a: 1, b: 1 }, more)
  const tree = policy.budgets!.tree.map((node) => (node.name === 'a' ? { ...node, capMilli } : node))
  return new ContestedLife(monday)
    .policy({ ...policy, budgets: { ...policy.budgets!, tree } })
    .nodes(1, 8)
    .drilled('a', 'b')
}
const submit = (life: ContestedLife, count = 8) => {
  for (let i = 0; i < count; i++)
    life.submit(`a${i}`, 1, { budget: 'a', terms: { submitter: i % 2 === 0 ? 'u' : 'v' } })
  life.tick()
  return life
}
const devicesOf = (nominal: number) => [{ accelerator: 'any', devices: { borrowing: null, lending: null, nominal } }]
const raising = (name: string, devicesMilli: number, more: Partial<ExceptionPolicy> = {}): ExceptionPolicy => ({
  allows: { kind: 'cap', devicesMilli },
  expires: '2026-08-04',
  name,
  owner: 'Ann',
  reason: 'A demo.',
  subject: { kind: 'team', name: 'a' },
  ...more,
})

describe('a cap', () => {
  it.each([
    ['a team', { caps: { ...defaultCaps, perTeamMilli: 3000 } }, null, 3],
    ['a team that differs', { caps: { ...defaultCaps, perTeamMilli: 3000, teams: { a: 5000 } } }, null, 5],
    ['a person', { caps: { ...defaultCaps, perPersonMilli: 1000 } }, null, 2],
    ['a budget', {}, 6000, 6],
  ] as const)('should bind %s, whatever is free', (_, more, node, most) => {
    const life = submit(capped(more, node))
    expect(life.running).toHaveLength(most)
    life.pass(hour)
    expect(life.running).toHaveLength(most)
    const waiting = [...life.cell.workloads.values()].filter(
      ({ run, line }) => run === null && line?.first?.run === null,
    )
    expect(new Set(waiting.map(({ hold }) => hold?.code))).toContain('OverQueueLimit')
    life.end(life.running[0]!)
    life.tick()
    expect(life.running).toHaveLength(most)
  })
  it.each([
    ['a team', { caps: { ...defaultCaps, perTeamMilli: 3000 } }, 'OverQueueLimit'],
    ['a person', { caps: { ...defaultCaps, perPersonMilli: 3000 } }, 'OverQueueLimit'],
    ['quota', { queues: [{ name: 'default', ordering: 'greedy', quotas: devicesOf(3000) }] }, 'WaitingForQuota'],
    ['headroom', { headroom: { band: { high: 80, low: 60 }, lent: true, percent: 60 } }, 'NonPreemptibleOverQuota'],
  ] as const)('should count of %s what runs on without a budget since a new policy moved it', (_, more, code) => {
    const firm = { preemption: { tolerated: false }, terms: { submitter: 'u' } }
    const life = new ContestedLife(monday).policy(budgetPolicy({ a: 1, b: 1 })).nodes(1, 8)
    for (let i = 0; i < 3; i++) life.submit(`a${i}`, 1, { budget: 'a', ...firm })
    life.tick()
    life.policy(budgetPolicy({ 'a-new': 1, b: 1 }, more)).submit('next', 1, { budget: 'a-new', team: 'a', ...firm })
    life.tick()
    expect(life.running).toEqual(['a0', 'a1', 'a2'])
    expect(life.reason('next')).toBe(code)
    for (const each of [life.restarted(), life]) {
      each.end('a0').tick()
      expect(each.running).toEqual(['a1', 'a2', 'next'])
    }
  })
  it('should be raised by an exception until it expires at midnight UTC, which is said once', () => {
    const caps = { ...defaultCaps, perTeamMilli: 2000 }
    const life = submit(capped({ caps, exceptions: [raising('demo', 4000)] }))
    expect(life.running).toHaveLength(4)
    expect(decisionsOf(life.at(tuesday - 1).tick(), 'GrantLapsed')).toEqual([])
    life.end(life.running[0]!)
    life.tick()
    expect(life.running).toHaveLength(4)
    expect(decisionsOf(life.at(tuesday).tick(), 'GrantLapsed').map(({ data }) => data)).toEqual([
      { grant: 'exception', name: 'demo', owner: 'Ann', rule: 'spec.exceptions[0].expires' },
    ])
    expect(decisionsOf(life.pass(2 * hour), 'GrantLapsed')).toEqual([])
    life.end(life.running[0]!)
    life.tick()
    expect(life.running).toHaveLength(3)
  })
  it('should be raised to the highest of the exceptions that hold, in whatever order they stand', () => {
    const few = raising('few', 3000, { subject: { kind: 'budget', name: 'a' } })
    const many = raising('many', 6000)
    for (const exceptions of [
      [few, many],
      [many, few],
    ])
      expect(submit(capped({ caps: { ...defaultCaps, perTeamMilli: 2000 }, exceptions })).running).toHaveLength(6)
  })
  it('should be raised for the subject alone', () => {
    const subjects = { submitter: 'u', workload: 'a6' } as const
    const runs = Object.entries(subjects).map(([kind, name]) => {
      const exceptions = [raising('one', 8000, { subject: { kind: kind as 'submitter', name } })]
      return submit(capped({ caps: { ...defaultCaps, perTeamMilli: 1000 }, exceptions })).running
    })
    expect(runs).toEqual([
      ['a0', 'a2', 'a4', 'a6'],
      ['a0', 'a6'],
    ])
  })
  it('should never be exceeded, whatever is asked for', () => {
    const sizes = fc.array(
      fc.record({ devices: fc.integer({ min: 1, max: 3 }), person: fc.constantFrom('u', 'v', 'w') }),
      {
        maxLength: 14,
      },
    )
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 8 }), (sizes, person, team) => {
        const life = capped({ caps: { perPersonMilli: person * 1000, perTeamMilli: team * 1000, teams: {} } })
        sizes.forEach(({ devices, person: submitter }, i) => {
          life.submit(`a${i}`, devices, { budget: 'a', terms: { submitter } }).tick()
        })
        const held = (is: (submitter: string) => boolean) =>
          life.running.reduce((sum, id) => {
            const { shape, terms } = life.cell.workloads.get(id)!
            return sum + (is(terms.submitter) ? shape.request.devices : 0)
          }, 0)
        for (const one of ['u', 'v', 'w']) expect(held((submitter) => submitter === one)).toBeLessThanOrEqual(person)
        expect(held(() => true)).toBeLessThanOrEqual(team)
      }),
      { numRuns: 60 },
    )
  })
})
