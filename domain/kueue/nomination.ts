import type { KueuePolicy } from '../policy/quota-policy.ts'
import { wantedBy, type Assignment, type PodSetAssignment } from './assignment.ts'
import type { CycleOrder } from './cycle-order.ts'
import { assignFlavors } from './flavor-assigner.ts'
import type { Head } from './head.ts'
import type { Holder, Holdings } from './holdings.ts'
import type { NominationMemo } from './nomination-memo.ts'
import { searchCounts } from './partial-admission.ts'
import type { Placement, Placer } from './placer.ts'
import type { PreemptionOutlook, PreemptionRequest, Victim } from './preemption-request.ts'
import { findVictims, preemptionOutlook } from './preemption.ts'
import type { QueueRules } from './queue-rules.ts'

export interface CycleSettings extends CycleOrder {
  /** `minCount` may be used. */
  readonly partialAdmission: boolean
  /** A head whose victims were taken by an earlier one looks again, at what is left. */
  readonly recomputeOnVictimOverlap: boolean
}

/** What heads are decided by. The holdings change while a cycle runs, and are afterwards as they were. */
export interface CycleContext {
  readonly holdings: Holdings
  readonly rulesOf: (queue: number) => QueueRules
  readonly policy: KueuePolicy
  readonly settings: CycleSettings
  /** Null: quota is all that counts. */
  readonly placer: Placer | null
  /** As in a request for victims; absent: everybody may be evicted whom the rules give away. */
  readonly mayEvict?: PreemptionRequest['mayEvict']
  /** Kept from cycle to cycle; absent: every head is looked at anew. */
  readonly memo?: NominationMemo
}

/** What a head could get. */
export interface Nomination {
  readonly head: Head
  readonly assignment: Assignment
  /** Who has to leave first; empty with a mode of `preempt`: nobody can be made to. */
  readonly victims: ReadonlyArray<Victim>
  /** Null: nothing of it has to be placed, or has a place. */
  readonly placement: Placement | null
}

/** What holds where a head is looked at again within a cycle. */
export interface SecondLook {
  /** Its flavors stay the same. */
  readonly fixed: ReadonlyArray<PodSetAssignment>
  /** Taken to be gone, and not in the holdings. */
  readonly out: ReadonlyArray<Holder>
}

/** With fewer replicas where all of them get neither room nor victims. */
export const nominate = (context: CycleContext, head: Head, second: SecondLook | null = null): Nomination => {
  const { holdings, mayEvict, memo, placer, rulesOf, settings } = context
  if (memo === undefined || second !== null || head.untried != null) return search(context, head, second)
  const newer = rulesOf(head.queue).preemption.withinQueue === 'lowerOrNewerEqualPriority'
  const known = memo.recall(holdings, head, newer)
  if (known !== undefined) return { head, assignment: known, victims: [], placement: null }
  const found = search(context, head, null)
  // Where nodes and promises matter too, something may change that the holdings know nothing of.
  const shrinks = settings.partialAdmission && head.podSets.some(({ count, minCount }) => minCount < count)
  const lasts =
    (placer === null && mayEvict === undefined) ||
    (!shrinks && (placer === null || !isPlaced(placer, head, found.assignment)) && found.assignment.mode === 'noFit')
  if (lasts && !isPromising(found)) memo.remember(holdings, head, newer, found.assignment)
  return found
}

const search = (context: CycleContext, head: Head, second: SecondLook | null): Nomination => {
  const counts = head.podSets.map(({ count }) => count)
  const full = attempt(context, head, counts, second)
  if (isPromising(full) || !context.settings.partialAdmission) return full
  const shrunk = searchCounts(head.podSets, (fewer) => {
    const nomination = attempt(context, head, fewer, second)
    return isPromising(nomination) ? nomination : null
  })
  return shrunk ?? full
}

/** It fits, or would once others have been evicted. */
export const isPromising = ({ assignment, victims }: Nomination): boolean =>
  assignment.mode === 'fit' || victims.length > 0

const attempt = (
  context: CycleContext,
  head: Head,
  counts: ReadonlyArray<number>,
  second: SecondLook | null,
): Nomination => {
  const { holdings, policy, placer } = context
  const out = second?.out ?? []
  const barren = new Map<number, number>()
  const outlook = (flavorResource: number, amount: number): PreemptionOutlook => {
    const found = preemptionOutlook(requestFor(context, head, [], []), flavorResource, amount)
    if (found.possibility === 'noCandidates') barren.set(flavorResource, amount)
    return found
  }
  const assigned = assignFlavors(
    {
      tree: holdings.tree,
      rules: context.rulesOf(head.queue),
      fairSharing: policy.fairSharing,
      outlook,
      fixed: second?.fixed ?? null,
    },
    head,
    counts,
  )
  const { assignment, placement } = placed(context, head, assigned, out)
  if (assignment.mode !== 'preempt') return { head, assignment, victims: [], placement }
  const { usage, podSets } = assignment
  const request = requestFor(context, head, usage, wantedBy(assignment))
  // The outlook of the only flavor-resource was a search for the same victims.
  const knownBarren = usage.length === 1 && barren.get(usage[0]![0]) === usage[0]![1]
  if (placer === null || !isPlaced(placer, head, assignment))
    return { head, assignment, victims: knownBarren ? [] : findVictims(request), placement: null }
  const fits = (gone: ReadonlyArray<Holder>) => placer.place(head, podSets, [...out, ...gone]) !== null
  const victims = knownBarren ? [] : findVictims({ ...request, fits })
  const gone = victims.length > 0 ? [...out, ...victims.map(({ holder }) => holder)] : 'everyone'
  return { head, assignment, victims, placement: placer.place(head, podSets, gone) }
}

const requestFor = (
  { holdings, rulesOf, policy, mayEvict }: CycleContext,
  { id, queue, priority, createdAt }: Head,
  usage: Assignment['usage'],
  wanted: ReadonlyArray<number>,
): PreemptionRequest => ({
  holdings,
  preemptor: { id, queue, priority, createdAt, usage, wanted },
  preemptionOf: (of) => rulesOf(of).preemption,
  fairSharing: policy.fairSharing,
  loops: policy.loops,
  ...(mayEvict !== undefined && { mayEvict }),
})

const isPlaced = (placer: Placer, head: Head, { podSets }: Assignment): boolean =>
  podSets.some(({ flavors }, i) => flavors.some(({ flavor }) => placer.concerns(head, i, flavor)))

/** Quota that fits is not enough where there is no place: then evictions may make one, if one could be made at all. */
const placed = (
  { placer }: CycleContext,
  head: Head,
  assignment: Assignment,
  out: ReadonlyArray<Holder>,
): { readonly assignment: Assignment; readonly placement: Placement | null } => {
  if (placer === null || assignment.mode === 'noFit' || !isPlaced(placer, head, assignment))
    return { assignment, placement: null }
  const { podSets } = assignment
  const placement = assignment.mode === 'fit' ? placer.place(head, podSets, out) : null
  if (placement !== null) return { assignment, placement }
  if (placer.place(head, podSets, 'everyone') === null)
    return { assignment: { ...assignment, mode: 'noFit', noFitReason: 'TopologyPlacementFailed' }, placement }
  const short = podSets.map((podSet, i): PodSetAssignment => {
    const isShort = podSet.flavors.some(({ flavor }) => placer.concerns(head, i, flavor))
    return isShort ? { ...podSet, flavors: podSet.flavors.map((one) => ({ ...one, mode: 'preempt' })) } : podSet
  })
  return { assignment: { ...assignment, mode: 'preempt', podSets: short }, placement }
}
