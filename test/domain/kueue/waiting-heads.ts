import fc from 'fast-check'
import type { HeadOutcome } from '../../../domain/kueue/admission-cycle.ts'
import type { Head, PodSetRequest } from '../../../domain/kueue/head.ts'
import type { Holder } from '../../../domain/kueue/holdings.ts'
import type { CycleContext } from '../../../domain/kueue/nomination.ts'
import { resourceGroups, type QueueRules } from '../../../domain/kueue/queue-rules.ts'
import type { KueuePolicy } from '../../../domain/policy/quota-policy.ts'
import { anyContest } from './contested-quota.ts'

/** What a cycle is run with: what is held, and one head at most of each queue. */
export interface WaitingHeads {
  readonly context: CycleContext
  readonly heads: ReadonlyArray<Head>
}

export const settings: CycleContext['settings'] = {
  priorityFirst: true,
  preemptorsFirst: false,
  partialAdmission: true,
  recomputeOnVictimOverlap: true,
}

/** A head that asks for one resource only, with what is stated of it. */
export const headOf = (id: string, queue: number, amount: number, more: Partial<Head> = {}): Head => ({
  id,
  queue,
  priority: 0,
  createdAt: 0,
  queuedAt: more.createdAt ?? 0,
  podSets: [{ name: 'main', count: 1, minCount: 1, requests: [['devices', amount]], group: null }],
  accepts: () => true,
  isPreemptor: false,
  ...more,
})

/** What an admitted head holds. */
export const heldBy = ({ head, assignment }: HeadOutcome, admittedAt: number): Holder => ({
  id: head.id,
  queue: head.queue,
  priority: head.priority,
  createdAt: head.createdAt,
  admittedAt,
  usage: assignment.usage,
  evicting: false,
})

const podSet: fc.Arbitrary<PodSetRequest> = fc
  .record({
    name: fc.constantFrom('main', 'other'),
    minCount: fc.integer({ min: 1, max: 2 }),
    more: fc.nat(2),
    devices: fc.integer({ min: 1, max: 3 }),
    memory: fc.constantFrom(0, 0, 1, 2),
    group: fc.constantFrom(null, null, 'together'),
  })
  .map(({ name, minCount, more, devices, memory, group }) => ({
    name,
    count: minCount + more,
    minCount,
    requests:
      memory === 0
        ? [['devices', devices]]
        : [
            ['devices', devices],
            ['memory', memory],
          ],
    group,
  }))

const fungible = fc.constantFrom<'mayStopSearch' | 'tryNextFlavor'>('mayStopSearch', 'tryNextFlavor')
const fungibility: fc.Arbitrary<QueueRules['fungibility']> = fc.record({
  preference: fc.constantFrom('borrowingOverPreemption', 'preemptionOverBorrowing'),
  whenCanBorrow: fungible,
  whenCanPreempt: fungible,
})

const asked = fc.record({
  priority: fc.nat(2),
  createdAt: fc.nat(6),
  podSets: fc.array(podSet, { minLength: 1, maxLength: 2 }),
  onlyB: fc.constantFrom(false, false, false, true),
})

/** Whatever is held, and a head in most queues. */
export const anyWaitingHeads = (loops: KueuePolicy['loops']): fc.Arbitrary<WaitingHeads> =>
  fc
    .record({
      contested: anyContest,
      heads: fc.array(fc.option(asked, { freq: 6 }), { minLength: 5, maxLength: 5 }),
      fungibilities: fc.array(fungibility, { minLength: 5, maxLength: 5 }),
      undeclared: fc.constantFrom('refused' as const, 'ignored' as const),
      partialAdmission: fc.boolean(),
      recomputeOnVictimOverlap: fc.constantFrom(true, true, false),
    })
    .map(({ contested, heads, fungibilities, undeclared, ...switches }) => {
      const { holdings, preemptionOf, fairSharing } = contested
      const { tree } = holdings
      const queues = tree.nodes.flatMap(({ kind }, number) => (kind === 'queue' ? [number] : []))
      const groups = resourceGroups(tree, [{ resources: ['devices', 'memory'], flavors: ['a', 'b'] }])
      const context: CycleContext = {
        holdings,
        rulesOf: (queue) => ({
          groups,
          preemption: preemptionOf(queue),
          fungibility: fungibilities[queues.indexOf(queue)]!,
          ordering: queue % 2 === 0 ? 'bestEffortFifo' : 'strictFifo',
          undeclared,
        }),
        policy: { fairSharing, loops },
        settings: { ...settings, ...switches },
        placer: null,
      }
      const waiting = queues.flatMap((queue, i): ReadonlyArray<Head> => {
        const head = heads[i]
        if (head == null) return []
        const { onlyB, ...rest } = head
        const accepts = (_: number, flavor: string) => !onlyB || flavor === 'b'
        return [headOf(`w${i}`, queue, 1, { ...rest, queuedAt: rest.createdAt, accepts })]
      })
      return { context, heads: waiting }
    })
