import { expect, it } from 'vitest'
import type { QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { pass } from '../../../support/budgets/seen.ts'
import { budgetPolicy, CellLife, hour, minute } from '../../../support/cell-life.ts'

const quotaOf = (nominal: number, borrowing: number | null = null) => [
  { accelerator: 'x', devices: { borrowing, lending: null, nominal: nominal * 1000 } },
]

it('should take lent quota back for its owner (koordinator#2432)', () => {
  const queues: QueuePolicy[] = [
    { name: 'default', ordering: 'greedy', cohort: 'all', quotas: quotaOf(4) },
    { name: 'other', ordering: 'greedy', cohort: 'all', quotas: quotaOf(4) },
  ]
  const cohorts = [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }]
  const life = new CellLife()
    .policy(budgetPolicy({ owner: 1, borrower: 1 }, { queues, cohorts }))
    .nodes(1, 8, 'x')
    .drilled('owner', 'borrower')
  for (let i = 0; i < 8; i++) life.submit(`b${i}`, 1, { budget: 'borrower', queue: 'other' })
  life.tick()
  expect(life.holds('borrower')).toBe(8)
  life.at(minute)
  for (let i = 0; i < 4; i++) life.submit(`o${i}`, 1, { budget: 'owner' })
  life.tick()
  pass(life, hour)
  expect([life.holds('owner'), life.holds('borrower')]).toEqual([4, 4])
})
