import type { QueuePreemption } from '../policy/quota-policy.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import type { Holder } from './holdings.ts'
import { mayPreempt, type PreemptionRule } from './may-preempt.ts'
import type { PreemptionRequest, Preemptor } from './preemption-request.ts'
import { usesAny } from './trial.ts'

/** A request for victims, and how who holds quota differs from what the holdings list. */
export interface Contest {
  readonly request: PreemptionRequest
  /** Not to be taken. */
  readonly spared: ReadonlySet<Holder>
  /** Holds quota, is counted in the tree, and is not listed; null: nobody. */
  readonly newcomer: Holder | null
}

export const treeOf = ({ request }: Contest): QuotaTree => request.holdings.tree
export const preemptorOf = ({ request }: Contest): Preemptor => request.preemptor
export const policyOf = ({ request }: Contest): QueuePreemption => request.preemptionOf(request.preemptor.queue)

/** Whether it uses what is wanted, and the policy of the preemptor's queue lets it be evicted. */
export const isEligible = (contest: Contest, holder: Holder): boolean => {
  const { preemptor } = contest.request
  return (
    usesAny(holder, preemptor.wanted) &&
    mayPreempt(ruleFor(contest, holder.queue), preemptor, holder) &&
    !contest.spared.has(holder) &&
    contest.request.mayEvict?.(holder, preemptor) !== false
  )
}

/** Those of a queue who are eligible. */
export const eligibleOf = (contest: Contest, queue: number): Holder[] => {
  const eligible: Holder[] = []
  if (ruleFor(contest, queue) === 'never') return eligible
  for (const holder of contest.request.holdings.of(queue)) if (isEligible(contest, holder)) eligible.push(holder)
  const { newcomer } = contest
  if (newcomer?.queue === queue && isEligible(contest, newcomer)) eligible.push(newcomer)
  return eligible
}

const ruleFor = (contest: Contest, queue: number): PreemptionRule => {
  const { withinQueue, reclaimWithinCohort } = policyOf(contest)
  return queue === preemptorOf(contest).queue ? withinQueue : reclaimWithinCohort
}
