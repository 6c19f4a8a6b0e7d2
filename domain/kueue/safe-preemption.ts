import { dominantShare } from './dominant-share.ts'
import { allows, couldTakeFairly, sidesOf, staysWithinNominal } from './fair-preemption.ts'
import { couldTake } from './classical-preemption.ts'
import type { Contest } from './contest.ts'
import type { Holder } from './holdings.ts'
import type { PreemptionRequest, Victim } from './preemption-request.ts'
import { Trial } from './trial.ts'

/** A search without safeguards: what Kueue would do. */
export type Search = (contest: Contest) => ReadonlyArray<Victim>

/** Searches that are made until one ends in victims who may all be taken; then nobody is evicted. */
const searchesMax = 16

/**
 * Victims by which nothing can go round in a circle: each may be taken as the set stands in the end, and none of them
 * could at once evict the preemptor. Who fails that is spared, and the search begins anew.
 */
export const safeVictims = (request: PreemptionRequest, search: Search): ReadonlyArray<Victim> => {
  const spared = new Set<Holder>()
  for (let searches = 0; searches < searchesMax; searches++) {
    const victims = withoutSpare(request, search({ request, spared, newcomer: null }))
    const wrong = [...wronged(request, victims), ...returning(request, victims, search)]
    if (wrong.length === 0) return victims
    for (const holder of wrong) spared.add(holder)
  }
  return []
}

/**
 * An attempt without borrowing makes more room than the request needs: where some of its own queue suffice when it
 * borrows, all others stay.
 */
const withoutSpare = (request: PreemptionRequest, victims: ReadonlyArray<Victim>): ReadonlyArray<Victim> => {
  const trial = new Trial(request)
  let needed = victims
  for (const { holder, reason } of victims) {
    if (reason !== 'WithinQueue') continue
    trial.take(holder, reason)
    if (!trial.fits(true)) continue
    trial.returnUnneeded(true)
    needed = [...trial.out]
    break
  }
  trial.undo()
  return needed
}

/**
 * Those whom the shares do not give away as things stand in the end: victims of the preemptor's own queue who came
 * back may have been what made its share small enough.
 */
const wronged = (request: PreemptionRequest, victims: ReadonlyArray<Victim>): ReadonlyArray<Holder> => {
  const { fairSharing, holdings, preemptor } = request
  if (fairSharing === null || victims.length === 0) return []
  const { tree } = holdings
  const trial = new Trial(request)
  tree.add(preemptor.queue, preemptor.usage)
  for (const { holder, reason } of victims) trial.take(holder, reason)
  const entitled = staysWithinNominal(trial)
  const wrong = victims.filter(({ holder, reason }) => {
    if (reason === 'WithinQueue' || (reason === 'ReclaimInCohort' && entitled)) return false
    const [ownSide, side] = sidesOf(tree, preemptor.queue, holder.queue)
    const [own, after] = [dominantShare(tree, ownSide), dominantShare(tree, side)]
    tree.add(holder.queue, holder.usage)
    const before = dominantShare(tree, side)
    tree.remove(holder.queue, holder.usage)
    return !fairSharing.some((strategy) => allows(strategy, own, before, after))
  })
  trial.undo()
  tree.remove(preemptor.queue, preemptor.usage)
  return wrong.map(({ holder }) => holder)
}

/** Those who, once the preemptor holds what they held, could evict it. */
const returning = (
  request: PreemptionRequest,
  victims: ReadonlyArray<Victim>,
  search: Search,
): ReadonlyArray<Holder> => {
  const { tree } = request.holdings
  const newcomer: Holder = { ...request.preemptor, admittedAt: Infinity, evicting: false }
  const spared = new Set(victims.map(({ holder }) => holder))
  for (const { holder } of victims) tree.remove(holder.queue, holder.usage)
  tree.add(newcomer.queue, newcomer.usage)
  const back = [...spared].filter((holder) => {
    const turned = { request: turnedFor(request, holder), spared, newcomer }
    return mayTake(turned, newcomer) && search(turned).some((victim) => victim.holder === newcomer)
  })
  tree.remove(newcomer.queue, newcomer.usage)
  for (const { holder } of victims) tree.add(holder.queue, holder.usage)
  return back
}

/** As the holder would ask now. Where it would find its place is not asked: it is enough that it could evict. */
const turnedFor = (request: PreemptionRequest, holder: Holder): PreemptionRequest => {
  const { holdings, preemptionOf, fairSharing, loops } = request
  const short = holder.usage.filter(([one, amount]) => amount > holdings.tree.available(holder.queue, one))
  return { holdings, preemptionOf, fairSharing, loops, preemptor: { ...holder, wanted: short.map(([one]) => one) } }
}

/** What is quickly asked before a search is made for a victim: nearly always it ends here. */
const mayTake = (contest: Contest, holder: Holder): boolean =>
  contest.request.fairSharing === null ? couldTake(contest, holder) : couldTakeFairly(contest, holder)
