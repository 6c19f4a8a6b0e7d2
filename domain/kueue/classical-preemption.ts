import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import { unusedLocal } from './borrow-level.ts'
import { inCandidateOrder } from './candidate-order.ts'
import { eligibleOf, isEligible, policyOf, preemptorOf, treeOf, type Contest } from './contest.ts'
import type { Holder } from './holdings.ts'
import type { Victim, VictimReason } from './preemption-request.ts'
import { borrowsAny, Trial } from './trial.ts'

/** `withoutBorrowing`: may only be taken where the preemptor ends within its nominal quota. */
type Right = 'withinQueue' | 'advantage' | 'whileBorrowing' | 'withoutBorrowing'

interface Candidate {
  readonly holder: Holder
  readonly right: Right
  /** The lowest cohort that it and the preemptor are both below. */
  readonly common: number
}

interface Lists {
  /** Outside a subtree that has room for the request: whoever holds it there holds what is the subtree's own. */
  readonly advantaged: Candidate[]
  readonly others: Candidate[]
  readonly own: Candidate[]
}

const reasons: Readonly<Record<Right, VictimReason>> = {
  withinQueue: 'WithinQueue',
  advantage: 'ReclaimInCohort',
  whileBorrowing: 'ReclaimWhileBorrowing',
  withoutBorrowing: 'ReclaimInCohort',
}

/** Victims by quota and priority alone; empty: nobody whom it may evict makes room. Leaves the tree as it found it. */
export const classicalVictims = (contest: Contest): ReadonlyArray<Victim> => {
  const lists = candidateLists(contest)
  const trial = new Trial(contest.request)
  const all = [lists.advantaged, lists.others, lists.own].flat()
  if (!trial.couldFit(all.map(({ holder }) => holder))) return []
  const sequence = inSequence(lists, preemptorOf(contest).queue)
  for (const borrowing of attempts(contest, lists)) {
    const victims = attempt(trial, sequence, borrowing)
    if (victims.length > 0) return victims
  }
  return []
}

const attempt = (trial: Trial, sequence: Iterable<Candidate>, borrowing: boolean): ReadonlyArray<Victim> => {
  let victims: ReadonlyArray<Victim> = []
  for (const candidate of sequence) {
    if (!isStillDue(trial.tree, trial.preemptor.wanted, candidate, borrowing)) continue
    trial.take(candidate.holder, reasons[candidate.right])
    if (!trial.fits(borrowing)) continue
    trial.returnUnneeded(borrowing)
    victims = [...trial.out]
    break
  }
  trial.undo()
  return victims
}

/** Whether its queue, and each cohort up to the common one, still uses more than its own of what is wanted. */
const isStillDue = (
  tree: QuotaTree,
  wanted: ReadonlyArray<number>,
  { holder, right, common }: Candidate,
  borrowing: boolean,
): boolean => {
  if (right === 'withinQueue') return true
  if (borrowing && right === 'withoutBorrowing') return false
  for (let node = holder.queue; node !== common; node = tree.parent[node]!)
    if (!borrowsAny(tree, node, wanted)) return false
  return true
}

const attempts = (contest: Contest, { advantaged, others }: Lists): ReadonlyArray<boolean> => {
  const [tree, { queue, wanted }] = [treeOf(contest), preemptorOf(contest)]
  const mayBorrow = policyOf(contest).borrowWithinCohort !== 'never'
  if (advantaged.length + others.length === 0) return [true]
  if (mayBorrow) return [true, false]
  const belowNominal = wanted.every((one) => tree.usage(queue, one) < tree.nominal(queue, one))
  if (!belowNominal) return [true]
  return advantaged.length === 0 ? [false, true] : [true, false]
}

/** Each part is put in order when it is reached: mostly the first is as far as a search goes. */
const inSequence = ({ advantaged, others, own }: Lists, queue: number): Iterable<Candidate> => {
  const parts = [true, false].flatMap((evicting) =>
    [advantaged, others, own].map((list) => {
      let ordered: ReadonlyArray<Candidate> | null = null
      const part = list.filter(({ holder }) => holder.evicting === evicting)
      return () => (ordered ??= inCandidateOrder(part, queue, ({ holder }) => holder))
    }),
  )
  return {
    *[Symbol.iterator]() {
      for (const part of parts) yield* part()
    },
  }
}

/** Below each cohort, from the preemptor's queue up, what has not been seen before. */
const candidateLists = (contest: Contest): Lists => {
  const { queue } = preemptorOf(contest)
  const own = eligibleOf(contest, queue).map((holder): Candidate => ({ holder, right: 'withinQueue', common: queue }))
  const lists: Lists = { advantaged: [], others: [], own }
  if (policyOf(contest).reclaimWithinCohort === 'never') return lists
  for (const { seen, common, advantage } of wayUp(contest))
    for (const holder of borrowersBelow(contest, common, seen)) {
      const right = advantage ? 'advantage' : rightOver(contest, holder)
      lists[advantage ? 'advantaged' : 'others'].push({ holder, right, common })
    }
  return lists
}

interface StepUp {
  readonly seen: number
  readonly common: number
  /** The request has room in what has been seen, or in something below it that the queue is in. */
  readonly advantage: boolean
}

const wayUp = (contest: Contest): ReadonlyArray<StepUp> => {
  const [tree, { queue, usage }] = [treeOf(contest), preemptorOf(contest)]
  const steps: StepUp[] = []
  let rest = usage
  let advantage = false
  for (let seen = queue, common = tree.parent[queue]!; common >= 0; seen = common, common = tree.parent[common]!) {
    advantage ||= hasRoom(contest, seen, rest)
    rest = rest.map(([one, amount]) => [one, Math.max(0, amount - unusedLocal(tree, seen, one))] as const)
    steps.push({ seen, common, advantage })
  }
  return steps
}

/**
 * Whether a holder could be among the victims at all. Usage only falls during a search, so what is not due at its start
 * never is; it costs a look at two queues and their ancestors.
 */
export const couldTake = (contest: Contest, holder: Holder): boolean => {
  const [tree, preemptor] = [treeOf(contest), preemptorOf(contest)]
  if (!isEligible(contest, holder)) return false
  if (holder.queue === preemptor.queue) return true
  const common = tree.commonAncestor(preemptor.queue, holder.queue)
  const step = wayUp(contest).find((one) => one.common === common)
  if (step === undefined) return false
  const right = step.advantage ? 'advantage' : rightOver(contest, holder)
  if (right === 'withoutBorrowing' && !couldStayWithinNominal(contest)) return false
  return isStillDue(tree, preemptor.wanted, { holder, right, common }, right !== 'withoutBorrowing')
}

/** With every one of its own queue out whom it may evict. */
const couldStayWithinNominal = (contest: Contest): boolean => {
  const [tree, { queue, usage }] = [treeOf(contest), preemptorOf(contest)]
  const own = eligibleOf(contest, queue)
  for (const holder of own) tree.remove(queue, holder.usage)
  const within = usage.every(([one, amount]) => tree.usage(queue, one) + amount <= tree.nominal(queue, one))
  for (const holder of own) tree.add(queue, holder.usage)
  return within
}

const hasRoom = (contest: Contest, node: number, rest: Usage): boolean => {
  const tree = treeOf(contest)
  return rest.every(([one, amount]) => tree.usage(node, one) + amount <= tree.subtree(node, one))
}

const rightOver = (contest: Contest, { priority }: Holder): Right => {
  const { borrowWithinCohort, borrowPriorityMax } = policyOf(contest)
  const below =
    priority < preemptorOf(contest).priority && (borrowPriorityMax === null || priority <= borrowPriorityMax)
  return borrowWithinCohort === 'lowerPriority' && below ? 'whileBorrowing' : 'withoutBorrowing'
}

const borrowersBelow = (contest: Contest, cohort: number, except: number): ReadonlyArray<Holder> => {
  const [tree, { wanted }] = [treeOf(contest), preemptorOf(contest)]
  const found: Holder[] = []
  const nodes = tree.children[cohort]!.filter((child) => child !== except)
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (!borrowsAny(tree, node, wanted)) continue
    if (tree.nodes[node]!.kind === 'queue') for (const holder of eligibleOf(contest, node)) found.push(holder)
    else nodes.push(...tree.children[node]!)
  }
  return found
}
