import { inCandidateOrder } from '../../domain/kueue/candidate-order.ts'
import { Holdings, type Holder } from '../../domain/kueue/holdings.ts'
import { mayPreempt, type PreemptionRule, type Standing } from '../../domain/kueue/may-preempt.ts'
import { findVictims, type Preemptor, type VictimReason } from '../../domain/kueue/preemption.ts'
import { VictimQueues } from '../../domain/kueue/victim-queue.ts'
import type { FairSharingStrategy } from '../../domain/policy/quota-policy.ts'
import type { QuotaTree, Usage } from '../../domain/quota/quota-tree.ts'
import type { Adapter } from './adapters.ts'
import type { Case } from './case-file.ts'
import { holderOf, preemptionsOf, timeOf, treeOf, type CaseHolder } from './kueue-preemption-tree.ts'

type CaseStanding = Pick<CaseHolder, 'priority' | 'priorityBoost' | 'createdAt'>

const standingOf = ({ priority, priorityBoost = 0, createdAt }: CaseStanding): Standing => ({
  priority: priority + priorityBoost,
  createdAt: timeOf(createdAt),
})

const mayPreemptAdapter: Adapter = {
  run: (one) => {
    const { settings, preemptor, candidate } = one.document as unknown as {
      settings: { policy: PreemptionRule }
      preemptor: CaseStanding
      candidate: CaseStanding
    }
    return { mayPreempt: mayPreempt(settings.policy, standingOf(preemptor), standingOf(candidate)) }
  },
}

interface OrderedCandidate extends Omit<CaseHolder, 'queue' | 'usage'> {
  readonly queue?: string
  readonly subQueue?: string
  readonly subQueueUsage?: number
}

const candidateOrderAdapter: Adapter = {
  run: (one) => {
    const { settings, candidates } = one.document as unknown as {
      settings: { preemptorQueue: string; usageBasedOrdering: boolean; priorityBoost: boolean }
      candidates: ReadonlyArray<OrderedCandidate>
    }
    const queues = [settings.preemptorQueue, ...candidates.map(({ queue }) => queue ?? settings.preemptorQueue)]
    const numbered = (queue: string) => queues.indexOf(queue)
    const holders = candidates.map((candidate): Holder => {
      const { id, queue = settings.preemptorQueue, subQueue, subQueueUsage = 0, evictionInProgress = false } = candidate
      const boosted = settings.priorityBoost ? candidate : { ...candidate, priorityBoost: 0 }
      const ordered = { id, queue: numbered(queue), ...standingOf(boosted), usage: [], evicting: evictionInProgress }
      const holder = { ...ordered, admittedAt: timeOf(candidate.admittedAt) }
      if (!settings.usageBasedOrdering || subQueue === undefined) return holder
      return { ...holder, subQueue: { name: subQueue, usage: subQueueUsage } }
    })
    return { order: inCandidateOrder(holders, numbered(settings.preemptorQueue), (h) => h).map(({ id }) => id) }
  },
}

interface PendingPodSet {
  readonly count: number
  readonly requests: Readonly<Record<string, number>>
  readonly assigned: Readonly<Record<string, { readonly flavor: string; readonly mode: string }>>
}

interface Targets {
  readonly settings: {
    readonly fairSharing?: boolean
    readonly fairSharingStrategies?: ReadonlyArray<FairSharingStrategy>
  }
  readonly running: ReadonlyArray<CaseHolder>
  readonly pending: ReadonlyArray<CaseStanding & { id: string; queue: string; podSets: ReadonlyArray<PendingPodSet> }>
}

const reasonNames: Readonly<Record<VictimReason, string>> = {
  WithinQueue: 'within-queue',
  ReclaimInCohort: 'reclaim-in-cohort',
  ReclaimWhileBorrowing: 'reclaim-while-borrowing',
  FairShareInCohort: 'fair-share-in-cohort',
}

/** What the cases of preemption expect, under either rule against loops. */
export const targetsAdapter = (loops: 'safe' | 'compatible'): Adapter => ({
  run: (one) => {
    const holdings = holdingsOf(one)
    const { tree } = holdings
    const { settings, running, pending } = one.document as unknown as Targets
    const victims = findVictims({
      holdings,
      preemptor: preemptorOf(tree, pending[0]!),
      preemptionOf: preemptionsOf(one, tree),
      fairSharing: strategiesOf(settings),
      loops,
    })
    const ids = new Set(victims.map(({ holder }) => holder.id))
    return {
      victims: victims.map(({ holder, reason }) => ({
        id: holder.id,
        reason: holder.evicting ? 'already-evicting' : reasonNames[reason],
      })),
      untouched: running.map(({ id }) => id).filter((id) => !ids.has(id)),
    }
  },
  unordered: ['victims', 'untouched'],
})

const strategiesOf = ({ fairSharing, fairSharingStrategies }: Targets['settings']) =>
  fairSharing === true ? (fairSharingStrategies ?? defaultStrategies) : null

const defaultStrategies = ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'] as const

const holdingsOf = (one: Case): Holdings => {
  const holdings = new Holdings(treeOf(one))
  for (const holder of (one.document as unknown as Targets).running) holdings.add(holderOf(holdings.tree, holder))
  return holdings
}

const preemptorOf = (tree: QuotaTree, pending: Targets['pending'][number]): Preemptor => {
  const [usage, wanted] = [new Map<number, number>(), new Set<number>()]
  for (const { count, requests, assigned } of pending.podSets)
    for (const [resource, { flavor, mode }] of Object.entries(assigned)) {
      const which = tree.flavorResource(flavor, resource)!
      usage.set(which, (usage.get(which) ?? 0) + count * (requests[resource] ?? 0))
      if (mode === 'preempt') wanted.add(which)
    }
  return {
    id: pending.id,
    queue: tree.node('queue', pending.queue),
    ...standingOf(pending),
    usage: [...usage] satisfies Usage,
    wanted: [...wanted],
  }
}

const victimQueueOrder: Adapter = {
  run: (one) => {
    const holdings = holdingsOf(one)
    const { tree } = holdings
    const { preemptorQueue, candidateQueues, steps } = one.document as unknown as {
      preemptorQueue: string
      candidateQueues: ReadonlyArray<string>
      steps: ReadonlyArray<'take' | 'drop'>
    }
    const preemptor = tree.node('queue', preemptorQueue)
    const candidates = candidateQueues.flatMap((queue) => [...holdings.of(tree.node('queue', queue))])
    const queues = new VictimQueues(
      tree,
      preemptor,
      inCandidateOrder(candidates, preemptor, (holder) => holder),
    )
    const order: string[] = []
    for (let queue = queues.next(); queue !== null; queue = queues.next()) {
      if (steps[order.length] === 'drop') queues.drop(queue)
      else queues.pop(queue)
      order.push(tree.nodes[queue]!.name)
    }
    return { queueOrder: order }
  },
}

export const kueuePreemptionAdapters: ReadonlyArray<readonly [kind: string, adapter: Adapter]> = [
  ['may-preempt', mayPreemptAdapter],
  ['candidate-order', candidateOrderAdapter],
  ['preemption-targets', targetsAdapter('compatible')],
  ['victim-queue-order', victimQueueOrder],
]
