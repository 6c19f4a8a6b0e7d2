import type { Usage } from '../quota/quota-tree.ts'
import { borrowLevel } from './borrow-level.ts'
import { classicalVictims } from './classical-preemption.ts'
import type { Contest } from './contest.ts'
import { fairVictims } from './fair-preemption.ts'
import type { PreemptionOutlook, PreemptionRequest, Victim } from './preemption-request.ts'
import { safeVictims } from './safe-preemption.ts'

export type { PreemptionOutlook, PreemptionRequest, Preemptor, Victim, VictimReason } from './preemption-request.ts'

/**
 * Who is to be evicted so that a request fits; empty: nobody can be so that it does. A search costs one sort of the
 * candidates and, for each of those taken, O(depth) and a look at the shares beside the way down.
 * @returns each holder once, those who are leaving already among them
 */
export const findVictims = (request: PreemptionRequest): ReadonlyArray<Victim> =>
  request.loops === 'safe' ? safeVictims(request, search) : search({ request, spared: new Set(), newcomer: null })

/** As Kueue does it, among those who are not spared. */
const search = (contest: Contest): ReadonlyArray<Victim> => {
  const { fairSharing } = contest.request
  return fairSharing === null ? classicalVictims(contest) : fairVictims(contest, fairSharing)
}

/**
 * What a search for a part of a request would come to, before the request is complete: for one flavor-resource of
 * which there is too little.
 */
export const preemptionOutlook = (
  request: PreemptionRequest,
  flavorResource: number,
  amount: number,
): PreemptionOutlook => {
  const { tree } = request.holdings
  const { preemptor } = request
  const usage: Usage = [[flavorResource, amount]]
  const victims = findVictims({ ...request, preemptor: { ...preemptor, usage, wanted: [flavorResource] } })
  for (const { holder } of victims) tree.remove(holder.queue, holder.usage)
  const { level } = borrowLevel(tree, preemptor.queue, flavorResource, amount)
  for (const { holder } of victims) tree.add(holder.queue, holder.usage)
  if (victims.length === 0) return { possibility: 'noCandidates', borrowLevel: level }
  const own = victims.some(({ holder }) => holder.queue === preemptor.queue)
  return { possibility: own ? 'preempt' : 'reclaim', borrowLevel: level }
}
