import { expect, it } from 'vitest'
import { accountsOf, personOf } from '../../../domain/fairness/budget-accounts.ts'
import { DominantShares } from '../../../domain/fairness/dominant-shares.ts'
import { FairTree } from '../../../domain/fairness/fair-tree.ts'
import { clientPath, cohortLevels, queueClients } from '../../../domain/fairness/queue-clients.ts'
import { defaultBudget, type BudgetNodePolicy } from '../../../domain/policy/budget-policy.ts'
import type { CohortPolicy } from '../../../domain/policy/quota-policy.ts'

const budget = (name: string, share: number, more: Partial<BudgetNodePolicy> = {}): BudgetNodePolicy => ({
  name,
  share,
  owner: null,
  reviewDate: null,
  capMilli: null,
  children: [],
  persons: {},
  ...more,
})

it('should make accounts of budgets, and users of the persons below them', () => {
  const budgets = {
    ...defaultBudget,
    tree: [
      budget('research', 40, { children: [budget('ranking', 3, { persons: { ann: 5 } }), budget('vision', 1)] }),
      budget('platform', 60),
    ],
  }
  const nodes = [
    ...accountsOf(budgets),
    personOf(budgets, 'research/ranking', 'ann'),
    personOf(budgets, 'research/ranking', 'toString'),
    personOf(budgets, 'platform', 'ann'),
  ]
  expect(nodes.map(({ id, parent, shares }) => [id, parent, shares])).toEqual([
    ['', null, 1],
    ['research', '', 40],
    ['research/ranking', 'research', 3],
    ['research/vision', 'research', 1],
    ['platform', '', 60],
    ['research/ranking/ann', 'research/ranking', 5],
    ['research/ranking/toString', 'research/ranking', 1],
    ['platform/ann', 'platform', 1],
  ])
  expect(new FairTree(nodes).users).toBe(3)
})

it('should make clients of queues, below their cohorts', () => {
  const cohorts: ReadonlyArray<CohortPolicy> = [
    { name: 'lab', parent: 'all', fairWeightMilli: 3000, quotas: [] },
    { name: 'all', parent: null, fairWeightMilli: 1000, quotas: [] },
  ]
  const queues = [
    { name: 'a/b', cohort: 'lab', fairWeightMilli: 500 },
    { name: 'all' },
    { name: 'c', cohort: 'undescribed' },
  ]
  expect(cohortLevels(cohorts)).toEqual([
    { path: 'cohort all/cohort lab', weightMilli: 3000 },
    { path: 'cohort all', weightMilli: 1000 },
  ])
  expect(queueClients(queues, cohorts)).toEqual([
    { path: 'cohort all/cohort lab/queue a b', weightMilli: 500 },
    { path: 'queue all', weightMilli: 1000 },
    { path: 'cohort undescribed/queue c', weightMilli: 1000 },
  ])
  const shares = new DominantShares([8])
  for (const { path } of queueClients(queues, cohorts)) shares.add(path)
  for (const { path, weightMilli } of [...cohortLevels(cohorts), ...queueClients(queues, cohorts)])
    shares.setWeight(path, weightMilli)
  shares.started(clientPath(queues[0]!, cohorts), [3])
  expect(['cohort all', 'cohort all/cohort lab'].map((path) => shares.shareOf(path).near)).toEqual([3 / 8, 1 / 8])
})
