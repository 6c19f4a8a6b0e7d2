import type { FairSharingStrategy } from '../policy/quota-policy.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import { eligibleOf, isEligible, policyOf, preemptorOf, treeOf, type Contest } from './contest.ts'
import { compareShares, dominantShare, isInfinite, type DominantShare } from './dominant-share.ts'
import type { Holder } from './holdings.ts'
import type { Victim } from './preemption-request.ts'
import { borrowsAny, Trial } from './trial.ts'
import { VictimQueues } from './victim-queue.ts'

/** Victims by shares; empty: nobody whom it may evict makes room. Leaves the tree as it found it. */
export const fairVictims = (
  contest: Contest,
  strategies: ReadonlyArray<FairSharingStrategy>,
): ReadonlyArray<Victim> => {
  const [tree, { queue, usage }] = [treeOf(contest), preemptorOf(contest)]
  const candidates = fairCandidates(contest)
  const [first, second] = strategies
  const trial = new Trial(contest.request)
  if (first === undefined || !trial.couldFit(candidates)) return []
  // Shares are compared as if the request were in already; whether it fits is not.
  tree.add(queue, usage)
  const refused: Holder[] = []
  const fits =
    byFirstStrategy(trial, candidates, first, refused) ||
    (second !== undefined && bySecondStrategy(trial, refused, second))
  tree.remove(queue, usage)
  if (fits) trial.returnUnneeded(true)
  const victims = fits ? [...trial.out] : []
  trial.undo()
  return victims
}

/**
 * Whether a strategy lets the target's side lose a holder, when the preemptor's side has the request.
 * @param before share of the target's side with the holder
 * @param after  the same without it
 */
export const allows = (
  strategy: FairSharingStrategy,
  preemptor: DominantShare,
  before: DominantShare,
  after: DominantShare,
): boolean =>
  strategy === 'lessThanInitialShare' ? compareShares(preemptor, before) < 0 : compareShares(preemptor, after) <= 0

/** The two children of the lowest common ancestor that the queues are below or at: their shares are what is compared. */
export const sidesOf = (tree: QuotaTree, preemptorQueue: number, target: number): readonly [number, number] => {
  const common = tree.commonAncestor(preemptorQueue, target)
  return [childBelow(tree, common, preemptorQueue), childBelow(tree, common, target)]
}

/** Whether a queue, with the request counted in the tree, borrows nothing of what is wanted. */
export const staysWithinNominal = ({ tree, preemptor }: Trial): boolean =>
  !borrowsAny(tree, preemptor.queue, preemptor.wanted)

/** Share of a node as it would be without a holder. */
const shareWithout = (tree: QuotaTree, node: number, { queue, usage }: Holder): DominantShare => {
  tree.remove(queue, usage)
  const share = dominantShare(tree, node)
  tree.add(queue, usage)
  return share
}

/** Whether a holder could be among the victims at all: usage only falls during a search. */
export const couldTakeFairly = (contest: Contest, holder: Holder): boolean => {
  const [tree, { queue, wanted }] = [treeOf(contest), preemptorOf(contest)]
  if (!isEligible(contest, holder)) return false
  return holder.queue === queue || borrowsAny(tree, holder.queue, wanted)
}

const childBelow = (tree: QuotaTree, ancestor: number, node: number): number => {
  while (tree.parent[node]! !== ancestor) node = tree.parent[node]!
  return node
}

const fairCandidates = (contest: Contest): ReadonlyArray<Holder> => {
  const [tree, { queue, wanted }] = [treeOf(contest), preemptorOf(contest)]
  const found = eligibleOf(contest, queue)
  if (policyOf(contest).reclaimWithinCohort === 'never') return found
  let root = queue
  while (tree.parent[root]! >= 0) root = tree.parent[root]!
  const nodes = [root]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (tree.nodes[node]!.kind === 'cohort') for (const child of tree.children[node]!) nodes.push(child)
    else if (node !== queue && borrowsAny(tree, node, wanted))
      for (const holder of eligibleOf(contest, node)) found.push(holder)
  }
  return found
}

const byFirstStrategy = (
  trial: Trial,
  candidates: ReadonlyArray<Holder>,
  strategy: FairSharingStrategy,
  refused: Holder[],
): boolean => {
  const { tree, preemptor } = trial
  const queues = new VictimQueues(tree, preemptor.queue, candidates)
  // Asked once: victims of its own queue do not turn what it borrows into what is its own.
  const entitled = staysWithinNominal(trial)
  for (let queue = queues.next(); queue !== null; queue = queues.next()) {
    if (queue === preemptor.queue) trial.take(queues.pop(queue)!, 'WithinQueue')
    else if (entitled) trial.take(queues.pop(queue)!, 'ReclaimInCohort')
    else if (!takeFirstAllowed(trial, queues, queue, strategy, refused)) continue
    if (fitsWithoutItself(trial)) return true
  }
  return false
}

/** Puts to `refused` whom the strategy does not let the queue lose. */
const takeFirstAllowed = (
  trial: Trial,
  queues: VictimQueues,
  queue: number,
  strategy: FairSharingStrategy,
  refused: Holder[],
): boolean => {
  const { tree, preemptor } = trial
  const [ownSide, side] = sidesOf(tree, preemptor.queue, queue)
  const [own, before] = [dominantShare(tree, ownSide), dominantShare(tree, side)]
  const hopeless = isInfinite(own) && !isInfinite(before)
  for (let holder = queues.pop(queue); holder !== undefined; holder = queues.pop(queue)) {
    if (!hopeless && allows(strategy, own, before, shareWithout(tree, side, holder))) {
      trial.take(holder, 'FairShareInCohort')
      return true
    }
    refused.push(holder)
  }
  return false
}

const bySecondStrategy = (trial: Trial, candidates: ReadonlyArray<Holder>, strategy: FairSharingStrategy): boolean => {
  const { tree, preemptor } = trial
  const queues = new VictimQueues(tree, preemptor.queue, candidates)
  for (let queue = queues.next(); queue !== null; queue = queues.next()) {
    const [ownSide, side] = sidesOf(tree, preemptor.queue, queue)
    const [own, before] = [dominantShare(tree, ownSide), dominantShare(tree, side)]
    const holder = queues.pop(queue)!
    queues.drop(queue)
    if (!allows(strategy, own, before, shareWithout(tree, side, holder))) continue
    trial.take(holder, 'FairShareInCohort')
    if (fitsWithoutItself(trial)) return true
  }
  return false
}

const fitsWithoutItself = (trial: Trial): boolean => {
  const { tree, preemptor } = trial
  tree.remove(preemptor.queue, preemptor.usage)
  const fits = trial.fits(true)
  tree.add(preemptor.queue, preemptor.usage)
  return fits
}
