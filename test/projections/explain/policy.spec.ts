import { describe, expect, it } from 'vitest'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { policyOf } from '../../../projections/explain/policy.ts'
import { budgetPolicy, CellLife, hour } from '../../support/cell-life.ts'
import { rightOf } from '../../support/faults.ts'

const monday = Date.UTC(2026, 7, 3)
const tuesday = monday + 24 * hour

const granted: Partial<AllocationPolicy> = {
  exceptions: [
    {
      allows: { devicesMilli: 4_000, kind: 'cap' },
      expires: '2026-08-04',
      name: 'demo',
      owner: 'Ann',
      reason: 'The demo.',
      subject: { kind: 'team', name: 'a' },
    },
  ],
  headroom: { band: { high: 80, low: 10 }, lent: true, percent: 25 },
  protectedPools: [{ budgets: ['a'], name: 'lab', nodes: ['node-0', 'node-9'] }],
  reservations: [
    {
      budget: 'a',
      devices: 3,
      expires: '2026-08-04',
      justification: 'The launch.',
      name: 'launch',
      owner: 'Ben',
    },
  ],
}

const life = (): CellLife => {
  const started = new CellLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }, granted))
    .nodes(2, 4)
    .drilled('a', 'b')
  started.submit('a0', 1, { budget: 'a', preemption: { tolerated: false } })
  for (let i = 0; i < 3; i++) started.submit(`b${i}`, 1, { budget: 'b' })
  started.tick()
  return started
}

describe('the policy in force', () => {
  it('should be told with its hash, what it grants to whom until when, and what is made of that', () => {
    const { cell } = life()
    expect(policyOf(cell)).toMatchObject({
      at: monday,
      hash: cell.policyHash,
      sharing: 'budgets',
      reservations: [
        {
          name: 'launch',
          budget: 'a',
          devices: 3,
          justification: 'The launch.',
          owner: 'Ben',
          expires: '2026-08-04',
          holds: true,
          heldMilli: 1_000,
          keptMilli: 2_000,
        },
      ],
      protectedPools: [{ name: 'lab', budgets: ['a'], devices: 4, heldMilli: 1_000, heldByOthersMilli: 3_000 }],
      headroom: { percent: 25, lent: true, heldMilli: 1_000, mostMilli: 6_000, schedulableMilli: 8_000 },
      exceptions: [{ name: 'demo', owner: 'Ann', reason: 'The demo.', expires: '2026-08-04', holds: true }],
    })
  })
  it('should say of what is over that it holds no longer', () => {
    const later = life()
    later.at(tuesday).tick()
    expect(policyOf(later.cell)).toMatchObject({
      reservations: [{ holds: false, keptMilli: 0 }],
      exceptions: [{ holds: false }],
    })
  })
  it('should come with the document that says the same', () => {
    const { cell } = life()
    const { document } = policyOf(cell)!
    expect(rightOf(decodePolicy(document))).toEqual(cell.policy)
  })
  it('should be none before there is one', () => {
    expect(policyOf(new CellLife().cell)).toBeNull()
  })
})
