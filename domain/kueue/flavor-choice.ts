import type { FairSharingStrategy } from '../policy/quota-policy.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import type { ChosenFlavor, BlockedReason, PodSetAssignment } from './assignment.ts'
import { borrowLevel } from './borrow-level.ts'
import { bestFitness, endsSearch, isPreferred, worstFitness, type FlavorFitness } from './flavor-mode.ts'
import type { Head } from './head.ts'
import type { PreemptionOutlook } from './preemption-request.ts'
import type { GroupFlavor, QueueRules, ResourceGroup } from './queue-rules.ts'

/** What is known while a head's flavors are chosen. */
export interface AssignmentContext {
  readonly tree: QuotaTree
  readonly rules: QueueRules
  readonly fairSharing: ReadonlyArray<FairSharingStrategy> | null
  /** What could be had of one flavor-resource by evictions, were `amount` of it all that the head asks for. */
  readonly outlook: (flavorResource: number, amount: number) => PreemptionOutlook
  /** Only these flavors, where a head is looked at again within a cycle. */
  readonly fixed: ReadonlyArray<PodSetAssignment> | null
}

/** Pod sets that get the same flavors, and what they ask for together. */
export interface Demand {
  /** By place in the head's list. */
  readonly podSets: ReadonlyArray<number>
  readonly amounts: ReadonlyMap<string, number>
}

export interface FlavorChoice {
  /** Of each resource of the group that the demand asks for. */
  readonly flavors: ReadonlyArray<ChosenFlavor>
  readonly borrowLevel: number
  /** Number of the flavor that comes next, where the search ended before the last one; else 0. */
  readonly next: number
}

/** Most hopeful first: a flavor that may have room some day says more than one that never will. */
const hopes: ReadonlyArray<BlockedReason> = ['WaitingForQuota', 'ExceedsMaxQuota', 'NoMatchingAccelerator']

/**
 * The flavor of a resource group for a demand, by the queue's rules of fungibility; the earlier of equally good ones.
 * @param taken what earlier pod sets of the head took, by flavor-resource
 * @param from  number of the flavor that the search begins with
 * @returns     why none will do, when none will
 */
export const chooseFlavor = (
  context: AssignmentContext,
  head: Head,
  demand: Demand,
  group: ResourceGroup,
  taken: ReadonlyMap<number, number>,
  from: number,
): FlavorChoice | BlockedReason => {
  const { fungibility } = context.rules
  const { flavors } = group
  let best: Trial | null = null
  let hope = hopes.length - 1
  for (let i = from; i < flavors.length; i++) {
    const flavor = flavors[i]!
    if (!mayUse(context, head, demand, group, flavor)) continue
    const trial = tryFlavor(context, head.queue, demand, group, flavor, taken)
    if (trial.reason !== null) hope = Math.min(hope, hopes.indexOf(trial.reason))
    if (isPreferred(trial.fitness, best?.fitness ?? worstFitness, fungibility.preference)) best = trial
    if (!endsSearch(trial.fitness, fungibility)) continue
    return { ...trial, next: (i + 1) % flavors.length }
  }
  return best === null ? hopes[hope]! : { ...best, next: 0 }
}

const mayUse = (
  { fixed }: AssignmentContext,
  head: Head,
  { podSets }: Demand,
  { resources }: ResourceGroup,
  { name }: GroupFlavor,
): boolean => {
  if (!podSets.every((podSet) => head.accepts(podSet, name))) return false
  if (fixed === null) return true
  const isFixed = ({ resource, flavor }: ChosenFlavor) => flavor === name && resources.includes(resource)
  return podSets.some((podSet) => fixed[podSet]!.flavors.some(isFixed))
}

interface Trial extends Omit<FlavorChoice, 'next'> {
  readonly fitness: FlavorFitness
  /** Null unless it does not fit. */
  readonly reason: BlockedReason | null
}

/** A flavor is as good for a demand as it is for the resource for which it is worst. */
const tryFlavor = (
  context: AssignmentContext,
  queue: number,
  { amounts }: Demand,
  { resources }: ResourceGroup,
  { name, flavorResources }: GroupFlavor,
  taken: ReadonlyMap<number, number>,
): Trial => {
  const asked: AskedOf[] = []
  for (let i = 0; i < resources.length; i++) {
    const amount = amounts.get(resources[i]!)
    if (amount === undefined) continue
    const flavorResource = flavorResources[i]!
    asked.push({ resource: resources[i]!, flavorResource, amount: amount + (taken.get(flavorResource) ?? 0) })
  }
  if (asked.some((each) => exceedsMax(context, queue, each))) return noFit('ExceedsMaxQuota')
  const flavors: ChosenFlavor[] = []
  let fitness = bestFitness
  let borrowLevel = 0
  for (const each of asked) {
    const own = fitnessFor(context, queue, each)
    if (own.mode === 'noFit') return noFit('WaitingForQuota')
    if (isPreferred(fitness, own, context.rules.fungibility.preference)) fitness = own
    borrowLevel = Math.max(borrowLevel, own.borrowLevel)
    const { resource, flavorResource } = each
    flavors.push({ resource, flavor: name, flavorResource, mode: own.mode === 'fit' ? 'fit' : 'preempt' })
  }
  return { flavors, fitness, borrowLevel, reason: null }
}

const noFit = (reason: BlockedReason): Trial => ({ flavors: [], fitness: worstFitness, borrowLevel: 0, reason })

interface AskedOf {
  readonly resource: string
  readonly flavorResource: number
  readonly amount: number
}

const exceedsMax = ({ tree, rules }: AssignmentContext, queue: number, { flavorResource, amount }: AskedOf): boolean =>
  flavorResource < 0 ? rules.undeclared === 'refused' && amount > 0 : amount > tree.potential(queue, flavorResource)

/** Of what is within the most that the queue could ever hold. */
const fitnessFor = (context: AssignmentContext, queue: number, { flavorResource, amount }: AskedOf): FlavorFitness => {
  if (flavorResource < 0) return bestFitness
  const { tree, rules, fairSharing, outlook } = context
  const { level, belowRoot } = borrowLevel(tree, queue, flavorResource, amount)
  if (amount <= Math.max(0, tree.available(queue, flavorResource))) return { mode: 'fit', borrowLevel: level }
  const { borrowWithinCohort, reclaimWithinCohort } = rules.preemption
  const mayBorrow = borrowWithinCohort !== 'never' || (fairSharing !== null && reclaimWithinCohort !== 'never')
  if (amount > tree.nominal(queue, flavorResource) && !belowRoot && !mayBorrow) return worstFitness
  const { possibility, borrowLevel: after } = outlook(flavorResource, amount)
  return { mode: possibility, borrowLevel: after }
}
