import { expect, it } from 'vitest'
import { assignFlavors } from '../../../domain/kueue/flavor-assigner.ts'
import { queueRulesOf } from '../../../domain/kueue/queue-rules.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import type { QueuePolicy } from '../../../domain/policy/allocation-policy.ts'
import type { Quota } from '../../../domain/policy/quota-policy.ts'
import { quotaNodesOf } from '../../../domain/policy/quota-nodes.ts'
import { QuotaTree } from '../../../domain/quota/quota-tree.ts'
import { headOf } from './waiting-heads.ts'

const nominal = (amount: number): Quota => ({ nominal: amount, borrowing: null, lending: null })
const research: QueuePolicy = {
  name: 'research',
  ordering: 'greedy',
  quotas: [
    { accelerator: 'h100', devices: nominal(2000) },
    { accelerator: 'a100', devices: nominal(8000), memory: nominal(100) },
  ],
}
const free: QueuePolicy = { name: 'free', ordering: 'fifo' }
const platform: QueuePolicy = {
  name: 'platform',
  ordering: 'reserve',
  quotas: [{ accelerator: 'h100', devices: nominal(8000), memory: nominal(100) }],
}
const tree = new QuotaTree(quotaNodesOf({ ...defaultPolicy, queues: [research, free, platform] }))

const assign = (queue: QueuePolicy, devices: number, memory: number) => {
  const head = headOf('w', tree.node('queue', queue.name), 0, {
    podSets: [
      {
        name: 'main',
        count: 1,
        minCount: 1,
        requests: [
          ['devices', devices],
          ['memory', memory],
        ],
        group: null,
      },
    ],
  })
  const outlook = () => ({ possibility: 'noCandidates', borrowLevel: 0 }) as const
  const { mode, podSets, noFitReason } = assignFlavors(
    { tree, rules: queueRulesOf(tree, queue), fairSharing: null, outlook, fixed: null },
    head,
    [1],
  )
  return [mode, ...new Set(podSets[0]!.flavors.map(({ flavor }) => flavor)), noFitReason]
}

it('should try accelerators in the order of the quotas, and give all resources the same', () => {
  expect(assign(research, 2000, 500)).toEqual(['fit', 'h100', null])
  expect(assign(research, 4000, 100)).toEqual(['fit', 'a100', null])
  expect(assign(research, 4000, 101)).toEqual(['noFit', 'ExceedsMaxQuota'])
})

it('should not limit memory in one queue because another one has a quota of it', () => {
  expect(assign(research, 1000, 101)).toEqual(['fit', 'h100', null])
  expect(assign(platform, 1000, 101)).toEqual(['noFit', 'ExceedsMaxQuota'])
})

it('should not limit a queue that states no quota', () => {
  expect(assign(free, 1_000_000, 1_000_000)).toEqual(['fit', null])
})

it('should let nobody pass the head of a queue that is strictly first come, first served', () => {
  expect([research, free, platform].map((queue) => queueRulesOf(tree, queue).ordering)).toEqual([
    'bestEffortFifo',
    'strictFifo',
    'bestEffortFifo',
  ])
})
