import { bySeniority } from '../../domain/fairness/candidate.ts'
import { admissionCycle, type HeadOutcome } from '../../domain/kueue/admission-cycle.ts'
import type { BlockedReason } from '../../domain/kueue/assignment.ts'
import type { CycleContext } from '../../domain/kueue/nomination.ts'
import type { Adapter } from './adapters.ts'
import { AdmissionWorld, type PendingJson } from './kueue-admission-world.ts'
import { candidateOf, orderingOf, shapeOf, type SubQueuesJson, type WaitingJson } from './usage-ordering-queues.ts'

type CyclesCase = SubQueuesJson & {
  readonly settings: { readonly cycles: number }
  readonly pending: ReadonlyArray<PendingJson & WaitingJson>
}

const reasonText: Readonly<Record<BlockedReason, string>> = {
  WaitingForQuota: 'waiting-for-quota',
  ExceedsMaxQuota: 'exceeds-max-quota',
  NoMatchingAccelerator: 'no-matching-flavor',
  WaitingForVictims: 'waiting-for-preempted-workloads',
  TopologyPlacementFailed: 'topology-placement-failed',
}

/** In each cycle the first of each queue has its turn; an admission is charged before the next. */
export const usageOrderedCycles: Adapter = {
  unordered: ['admitted', 'waiting'],
  run: (one) => {
    const input = one.document as unknown as CyclesCase
    const resources = [
      ...new Set([
        ...input.subQueues.flatMap(({ decayedUsage }) => Object.keys(decayedUsage ?? {})),
        ...input.pending.flatMap(({ podSets }) => podSets.flatMap(({ requests }) => Object.keys(requests))),
      ]),
    ]
    const ordering = orderingOf(input, resources)
    const compare = input.settings.usageBasedOrdering ? ordering.compare : bySeniority
    const context = contextOf(new AdmissionWorld(one))
    const waiting = new Map(input.pending.map((pending) => [pending.id, pending]))
    const parked = new Set<string>()
    const admitted: string[] = []
    const reasons = new Map<string, string>()
    for (let cycle = 0; cycle < input.settings.cycles; cycle++) {
      const inOrder = [...waiting.values()]
        .filter(({ id }) => !parked.has(id))
        .sort((a, b) => compare(candidateOf(a), candidateOf(b)))
      const firsts = new Map(inOrder.toReversed().map((pending) => [pending.queue, pending]))
      const heads = [...firsts.values()].map((pending) => context.world.headOf(pending))
      for (const outcome of admissionCycle(context, heads)) {
        const { id } = outcome.head
        if (outcome.reason !== null) {
          reasons.set(id, reasonText[outcome.reason])
          if (outcome.parked) parked.add(id)
          continue
        }
        ordering.admitted(waiting.get(id)!.subQueue, id, shapeOf(requested(outcome), resources))
        context.hold(outcome)
        waiting.delete(id)
        reasons.delete(id)
        admitted.push(id)
      }
    }
    return { admitted, waiting: [...waiting.keys()], blockedReasons: Object.fromEntries(reasons) }
  },
}

const requested = ({ assignment }: HeadOutcome): { readonly [resource: string]: number } => {
  const sums: { [resource: string]: number } = {}
  for (const { flavors } of assignment.podSets)
    for (const { resource, amount } of flavors) sums[resource] = (sums[resource] ?? 0) + amount
  return sums
}

const contextOf = (
  world: AdmissionWorld,
): CycleContext & { readonly world: AdmissionWorld; readonly hold: (outcome: HeadOutcome) => void } => ({
  world,
  holdings: world.holdings,
  rulesOf: (queue) => world.rulesOf(queue),
  policy: { fairSharing: null, loops: 'compatible' },
  settings: {
    priorityFirst: true,
    preemptorsFirst: false,
    partialAdmission: false,
    recomputeOnVictimOverlap: true,
  },
  placer: null,
  hold: ({ head: { id, queue, priority, createdAt }, assignment: { usage } }) => {
    world.holdings.add({ id, queue, priority, createdAt, admittedAt: 0, usage, evicting: false })
  },
})
