import { expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { decodeIntent } from '../../../domain/workload/intent.codec.ts'
import { planLines, planOf } from '../../../projections/explain/plan.ts'
import { CellLife } from '../../support/cell-life.ts'
import { rightOf } from '../../support/faults.ts'

const intent = rightOf(
  decodeIntent({
    metadata: { name: 'mine' },
    spec: {
      budget: 'a',
      deadline: '2026-08-14T00:00:00Z',
      elasticity: { minReplicas: 1 },
      modelFamily: 'm',
      preemption: { tolerated: true },
      preferred: { count: 2 },
      substitutable: [{ accelerator: 'a100', count: 1 }],
    },
  }),
)
const plain = rightOf(decodeIntent({ metadata: { name: 'plain' }, spec: { preferred: { count: 1 } } }))
const queues = [{ name: 'default', budget: 'a' }]
const budgets = { tree: [{ name: 'a', share: 1 }] }
const headroom = { percent: 10 }

const linesOf = (spec: unknown, of = intent): ReadonlyArray<string> => {
  const { cell } = new CellLife().policy(rightOf(decodePolicy({ spec }))).nodes(1, 8)
  return planLines(planOf(cell, of))
}

it.each<readonly [string, unknown, string]>([
  ['queues', {}, 'budget, modelFamily, substitutable, elasticity, preemption, deadline'],
  ['budgets', { budgets, queues }, 'modelFamily (but for drills), substitutable, deadline'],
  [
    'kueue',
    { sharing: 'kueue', queues: [{ name: 'default' }] },
    'budget, modelFamily (but for drills), substitutable, deadline',
  ],
  ['drf', { sharing: 'drf', budgets, queues }, 'modelFamily, substitutable, elasticity, preemption, deadline'],
  [
    'fair-tree beside headroom',
    { sharing: 'fair-tree', budgets, headroom, queues },
    'modelFamily (but for drills), substitutable, elasticity, deadline',
  ],
])('should say what is recorded and does not decide by %s', (_, spec, members) => {
  expect(linesOf(spec)).toContain(`  recorded, and not decided by yet: ${members}`)
  expect(linesOf(spec, plain).join()).not.toContain('recorded')
})
