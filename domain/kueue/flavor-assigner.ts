import type {
  AssignedFlavor,
  Assignment,
  BlockedReason,
  ChosenFlavor,
  PodSetAssignment,
  UntriedFlavors,
} from './assignment.ts'
import { chooseFlavor, type AssignmentContext, type Demand, type FlavorChoice } from './flavor-choice.ts'
import { replicaResource, type Head } from './head.ts'
import type { QueueRules } from './queue-rules.ts'

/**
 * Chooses a flavor for each resource group of each pod set, in order, with what earlier pod sets took.
 * @param counts replicas, one per pod set
 */
export const assignFlavors = (context: AssignmentContext, head: Head, counts: ReadonlyArray<number>): Assignment => {
  const taken = new Map<number, number>()
  const podSets = head.podSets.map(({ name }, i): PodSetAssignment => ({ name, count: counts[i]!, flavors: [] }))
  const amounts = head.podSets.map((_, i) => amountsOf(context.rules, head, i, counts[i]!))
  const untried = head.podSets.map((): ReadonlyArray<number> => [])
  let borrowLevel = 0
  for (const demand of demandsOf(head, amounts)) {
    const choice = chooseFlavors(context, head, demand, taken)
    if (typeof choice === 'string') return nothing(podSets, choice, anyOf(untried))
    for (const i of demand.podSets) untried[i] = choice.next
    borrowLevel = Math.max(borrowLevel, choice.borrowLevel)
    for (const i of demand.podSets) {
      const flavors: AssignedFlavor[] = []
      for (const chosen of choice.flavors) {
        const amount = amounts[i]!.get(chosen.resource)
        if (amount === undefined) continue
        flavors.push({ ...chosen, amount })
        const { flavorResource } = chosen
        if (flavorResource >= 0) taken.set(flavorResource, (taken.get(flavorResource) ?? 0) + amount)
      }
      podSets[i] = { ...podSets[i]!, flavors }
    }
  }
  const short = podSets.some(({ flavors }) => flavors.some(({ mode }) => mode === 'preempt'))
  const usage = [...taken].sort(([a], [b]) => a - b)
  return { mode: short ? 'preempt' : 'fit', podSets, usage, borrowLevel, noFitReason: null, untried: anyOf(untried) }
}

const anyOf = (untried: UntriedFlavors): UntriedFlavors | null =>
  untried.some((groups) => groups.some((next) => next > 0)) ? untried : null

const nothing = (
  podSets: ReadonlyArray<PodSetAssignment>,
  noFitReason: BlockedReason,
  untried: UntriedFlavors | null,
): Assignment => ({
  mode: 'noFit',
  podSets: podSets.map(({ name, count }) => ({ name, count, flavors: [] })),
  usage: [],
  borrowLevel: 0,
  noFitReason,
  untried,
})

/** What the replicas of a pod set ask for; replicas themselves are counted where the queue has quota for them. */
const amountsOf = ({ groups }: QueueRules, head: Head, podSet: number, count: number): ReadonlyMap<string, number> => {
  const amounts = new Map<string, number>()
  for (const [resource, amount] of head.podSets[podSet]!.requests) amounts.set(resource, amount * count)
  if (groups.some(({ resources }) => resources.includes(replicaResource))) amounts.set(replicaResource, count)
  return amounts
}

const demandsOf = (head: Head, amounts: ReadonlyArray<ReadonlyMap<string, number>>): ReadonlyArray<Demand> => {
  const demands = new Map<string | number, { podSets: number[]; amounts: Map<string, number> }>()
  head.podSets.forEach(({ group }, podSet) => {
    const key = group ?? podSet
    let demand = demands.get(key)
    if (demand === undefined) demands.set(key, (demand = { podSets: [], amounts: new Map<string, number>() }))
    demand.podSets.push(podSet)
    for (const [resource, amount] of amounts[podSet]!)
      demand.amounts.set(resource, (demand.amounts.get(resource) ?? 0) + amount)
  })
  return [...demands.values()]
}

interface GroupChoices extends Omit<FlavorChoice, 'next'> {
  /** By resource group. */
  readonly next: ReadonlyArray<number>
}

/** One flavor for each resource group of the queue that the demand has to do with. */
const chooseFlavors = (
  context: AssignmentContext,
  head: Head,
  demand: Demand,
  taken: ReadonlyMap<number, number>,
): GroupChoices | BlockedReason => {
  const flavors: ChosenFlavor[] = []
  const next = context.rules.groups.map(() => 0)
  let borrowLevel = 0
  for (const [i, group] of context.rules.groups.entries()) {
    if (!group.resources.some((resource) => demand.amounts.has(resource))) continue
    const from = head.untried?.[demand.podSets[0]!]?.[i] ?? 0
    const choice = chooseFlavor(context, head, demand, group, taken, from)
    if (typeof choice === 'string') return choice
    next[i] = choice.next
    flavors.push(...choice.flavors)
    borrowLevel = Math.max(borrowLevel, choice.borrowLevel)
  }
  const missing = ([resource, amount]: readonly [string, number]) =>
    amount > 0 && !flavors.some((flavor) => flavor.resource === resource)
  const refused = context.rules.undeclared === 'refused' && [...demand.amounts].some(missing)
  return refused ? 'NoMatchingAccelerator' : { flavors, borrowLevel, next }
}
