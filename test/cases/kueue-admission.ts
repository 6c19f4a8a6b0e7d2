import { admissionCycle, type HeadOutcome } from '../../domain/kueue/admission-cycle.ts'
import type { Assignment, AssignmentMode, BlockedReason } from '../../domain/kueue/assignment.ts'
import { compareEntries, compareStanding, queuedAt, type CycleEntry } from '../../domain/kueue/cycle-order.ts'
import { assignFlavors } from '../../domain/kueue/flavor-assigner.ts'
import { isPreferred, type FlavorFitness } from '../../domain/kueue/flavor-mode.ts'
import type { Head } from '../../domain/kueue/head.ts'
import { searchCounts } from '../../domain/kueue/partial-admission.ts'
import type { Placement } from '../../domain/kueue/placer.ts'
import type { PreemptionOutlook, Victim, VictimReason } from '../../domain/kueue/preemption-request.ts'
import { reservedWhileWaiting } from '../../domain/kueue/reserve-while-waiting.ts'
import type { FairSharingStrategy, FlavorFungibility } from '../../domain/policy/quota-policy.ts'
import type { Adapter } from './adapters.ts'
import type { Case, JsonObject } from './case-file.ts'
import { AdmissionWorld, type PendingJson } from './kueue-admission-world.ts'
import { timeOf, usageOf, type Amounts } from './kueue-preemption-tree.ts'
import { CycleNodes } from './topology-cycle.ts'

const reasonText: Readonly<Record<BlockedReason, string>> = {
  WaitingForQuota: 'waiting-for-quota',
  ExceedsMaxQuota: 'exceeds-max-quota',
  NoMatchingAccelerator: 'no-matching-flavor',
  WaitingForVictims: 'waiting-for-preempted-workloads',
  TopologyPlacementFailed: 'topology-placement-failed',
}

const victimText: Readonly<Record<VictimReason, string>> = {
  WithinQueue: 'within-queue',
  ReclaimInCohort: 'reclaim-in-cohort',
  ReclaimWhileBorrowing: 'reclaim-while-borrowing',
  FairShareInCohort: 'fair-share-in-cohort',
}

interface SettingsJson {
  readonly fairSharing?: boolean
  readonly fairSharingStrategies?: ReadonlyArray<FairSharingStrategy>
  readonly partialAdmission?: boolean
  readonly recomputeOnVictimOverlap?: boolean
  readonly priorityFirst?: boolean
  readonly preemptorsFirst?: boolean
  readonly startupTimeoutRequeueTimestamp?: 'createdAt' | 'evictedAt'
  readonly preference?: FlavorFungibility['preference'] | null
}

const settingsOf = ({ document }: Case): SettingsJson => document['settings'] as unknown as SettingsJson

/** What the kinds below have beside their quota tree; each kind its own part of it. */
interface Input {
  readonly pending: ReadonlyArray<PendingJson>
  readonly preemptionOracle: OracleJson
  readonly a: FlavorFitness
  readonly b: FlavorFitness
  readonly podSets: ReadonlyArray<{ readonly count: number; readonly minCount?: number }>
  readonly totalCountLimit: number
  readonly entries: ReadonlyArray<EntryJson>
  readonly blocked: BlockedJson
}

const inputOf = ({ document }: Case): Input => document as unknown as Input

interface OracleJson {
  readonly default: OutlookJson
  readonly overrides: ReadonlyArray<OutlookJson & { readonly flavor: string; readonly resource: string }>
}

interface OutlookJson {
  readonly possibility: PreemptionOutlook['possibility']
  readonly borrowLevelAfter: number
}

const flavorAssignment: Adapter = {
  run: (one) => {
    const world = new AdmissionWorld(one)
    const head = world.headOf(inputOf(one).pending[0]!)
    const oracle = inputOf(one).preemptionOracle
    const outlook = (flavorResource: number): PreemptionOutlook => {
      const { flavor, resource } = world.tree.flavorResources[flavorResource]!
      const found = oracle.overrides.find((each) => each.flavor === flavor && each.resource === resource)
      const { possibility, borrowLevelAfter } = found ?? oracle.default
      return { possibility, borrowLevel: borrowLevelAfter }
    }
    const { fairSharing } = settingsOf(one)
    const assignment = assignFlavors(
      {
        tree: world.tree,
        rules: world.rulesOf(head.queue),
        fairSharing: fairSharing === true ? ['lessThanOrEqualToFinalShare'] : null,
        outlook,
        fixed: null,
      },
      head,
      head.podSets.map(({ count }) => count),
    )
    return {
      mode: assignment.mode,
      podSets: assignment.podSets.map(({ name, count, flavors }) => ({
        name,
        count,
        flavors: Object.fromEntries(flavors.map(({ resource, flavor, mode }) => [resource, { flavor, mode }])),
      })),
      usage: world.amountsOf(assignment.usage),
      borrowLevel: assignment.borrowLevel,
      noFitReason: assignment.noFitReason === null ? null : reasonText[assignment.noFitReason],
    }
  },
}

const flavorPreference: Adapter = {
  run: (one) => {
    const preference = settingsOf(one).preference ?? 'borrowingOverPreemption'
    const { a, b } = inputOf(one)
    return { aPreferred: isPreferred(a, b, preference) }
  },
}

const partialAdmissionSearch: Adapter = {
  run: (one) => {
    const { podSets, totalCountLimit } = inputOf(one)
    const found = searchCounts(
      podSets.map(({ count, minCount }) => ({ count, minCount: minCount ?? count })),
      (counts) => {
        const total = counts.reduce((sum, count) => sum + count, 0)
        return total <= totalCountLimit ? total : null
      },
    )
    return { found: found !== null, totalCount: found ?? 0 }
  },
}

interface EntryJson {
  readonly id: string
  readonly createdAt: number
  readonly priority: number
  readonly borrowLevel?: number
  readonly isPreemptor?: boolean
  readonly evictedAt?: number
  readonly evictionReason?: string
  readonly preemptedAt?: number
  readonly preemptedReason?: string
}

const cycleOrder: Adapter = {
  run: (one) => {
    const { priorityFirst = true, preemptorsFirst = false, startupTimeoutRequeueTimestamp } = settingsOf(one)
    const rules = { priorityFirst, startupTimeoutRequeueTimestamp: startupTimeoutRequeueTimestamp ?? 'evictedAt' }
    const entries = inputOf(one).entries.map((entry): CycleEntry => ({
      id: entry.id,
      priority: entry.priority,
      queuedAt: queuedAt(
        {
          createdAt: timeOf(entry.createdAt),
          startupTimeoutAt: entry.evictionReason === 'startup-timeout' ? timeOf(entry.evictedAt) : null,
          reclaimedWhileBorrowingAt:
            entry.preemptedReason === 'reclaim-while-borrowing' ? timeOf(entry.preemptedAt) : null,
        },
        rules,
      ),
      borrowLevel: entry.borrowLevel ?? 0,
      isPreemptor: entry.isPreemptor ?? false,
    }))
    return {
      order: entries.sort((a, b) => compareEntries(a, b, { priorityFirst, preemptorsFirst })).map(({ id }) => id),
    }
  },
}

interface BlockedJson {
  readonly queue: string
  readonly mode: AssignmentMode
  readonly borrowLevel: number
  readonly usage: Amounts
}

const reserveWhileWaiting: Adapter = {
  run: (one) => {
    const world = new AdmissionWorld(one)
    const { queue, mode, borrowLevel, usage } = inputOf(one).blocked
    const assignment = { mode, borrowLevel, usage: usageOf(world.tree, usage) }
    const reserved = reservedWhileWaiting(world.tree, world.tree.node('queue', queue), assignment)
    return { reserved: world.amountsOf(reserved) }
  },
}

const cycle: Adapter = {
  unordered: ['admitted', 'preempted'],
  run: (one) => {
    const world = new AdmissionWorld(one)
    const nodes = CycleNodes.of(one)
    const { fairSharing, fairSharingStrategies, ...settings } = settingsOf(one)
    const order = { priorityFirst: true, preemptorsFirst: false }
    const waiting = new Map<number, Head[]>()
    for (const pending of inputOf(one).pending) {
      const head = world.headOf(pending)
      waiting.set(head.queue, [...(waiting.get(head.queue) ?? []), head])
    }
    for (const queue of waiting.values()) queue.sort((a, b) => compareStanding(a, b, order))
    const outcomes = admissionCycle(
      {
        holdings: world.holdings,
        rulesOf: (queue) => world.rulesOf(queue),
        policy: { fairSharing: fairSharing === true ? (fairSharingStrategies ?? []) : null, loops: 'compatible' },
        settings: {
          ...order,
          partialAdmission: settings.partialAdmission ?? false,
          recomputeOnVictimOverlap: settings.recomputeOnVictimOverlap ?? true,
        },
        placer: nodes?.placer ?? null,
      },
      [...waiting.values()].map(([head]) => head!),
    )
    return outcomeOf(world, nodes, waiting, outcomes)
  },
}

const outcomeOf = (
  world: AdmissionWorld,
  nodes: CycleNodes | null,
  waiting: ReadonlyMap<number, ReadonlyArray<Head>>,
  outcomes: ReadonlyArray<HeadOutcome>,
): JsonObject => {
  const nameOf = (queue: number): string => world.tree.nodes[queue]!.name
  const stillQueued: Record<string, string[]> = {}
  const parked: Record<string, string[]> = {}
  for (const outcome of outcomes) {
    const { id, queue } = outcome.head
    if (outcome.reason !== null) ((outcome.parked ? parked : stillQueued)[nameOf(queue)] ??= []).push(id)
  }
  for (const [queue, [, ...behind]] of waiting)
    if (behind.length > 0) (stillQueued[nameOf(queue)] ??= []).push(...behind.map(({ id }) => id))
  return {
    admitted: outcomes
      .filter(({ reason }) => reason === null)
      .map(({ head, assignment, placement }) => ({
        id: head.id,
        queue: nameOf(head.queue),
        podSets: admittedPodSets(assignment, placement, nodes),
      })),
    preempted: outcomes.flatMap(({ victims }) => victims.map(victimOf)),
    stillQueued,
    parked,
    blockedReasons: Object.fromEntries(
      outcomes.flatMap(({ head, reason }) => (reason === null ? [] : [[head.id, reasonText[reason]]])),
    ),
  }
}

const admittedPodSets = (
  { podSets }: Assignment,
  placement: Placement | null,
  nodes: CycleNodes | null,
): ReadonlyArray<JsonObject> =>
  podSets.map(({ name, count, flavors }) => {
    const placed = placement?.find(({ podSet }) => podSet === name)
    return {
      name,
      count,
      flavors: Object.fromEntries(flavors.map(({ resource, flavor }) => [resource, flavor])),
      usage: Object.fromEntries(flavors.map(({ resource, amount }) => [resource, amount])),
      ...(placed && nodes && { placement: nodes.placementOf(placed, flavors[0]!.flavor) }),
    }
  })

const victimOf = ({ holder, reason }: Victim): JsonObject => ({
  id: holder.id,
  reason: holder.evicting ? 'already-evicting' : victimText[reason],
})

/** Kinds about who starts, on which flavor, and where there is a topology at which place. */
export const kueueAdmissionAdapters: ReadonlyArray<readonly [string, Adapter]> = [
  ['flavor-assignment', flavorAssignment],
  ['flavor-preference', flavorPreference],
  ['partial-admission-search', partialAdmissionSearch],
  ['cycle-order', cycleOrder],
  ['reserve-while-waiting', reserveWhileWaiting],
  ['admission-cycle', cycle],
]
