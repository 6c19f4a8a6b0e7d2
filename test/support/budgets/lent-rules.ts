import type { PreemptionDecided } from '../../../domain/planner/cell-event.ts'
import type { NaiveQuotaTree } from '../naive/naive-quota.ts'
import type { Job, ToldCell } from './told-cell.ts'
import { sizeOf } from './told-devices.ts'
import { quotaTreeOf } from './told-limits.ts'

/** Of which all devices of small worlds are. */
const any = ['any', 'devices'] as const

/** Whether something is asked of somebody because lent quota is to come back. */
export const isOfLentQuota = (rule: string): boolean => rule.endsWith('.lendingDeadline')

/** Lent quota comes back to who has room of its own, when both have had their time, from who borrows it and no more. */
export const lentRulesBroken = (
  told: ToldCell,
  job: Job,
  { lease, rule, victims }: PreemptionDecided['data'],
  at: number,
): string | null => {
  const { queues } = told.policy!
  const own = queues.findIndex(({ name }) => name === job.data.queue)
  const deadlineMs = queues[own]?.lendingDeadlineMs
  if (deadlineMs === undefined || rule !== `spec.queues[${own}].lendingDeadline`) return `${job.id} takes by ${rule}`
  if (at < job.wantsSince + deadlineMs) return `${job.id} takes at ${at}, and has wanted since ${job.wantsSince}`
  const tree = quotaTreeOf(told)
  if (!hasOwnRoom(tree, job, sizeOf(lease))) return `${job.id} takes what is not its queue's own`
  const freed = new Map<string, number[]>()
  for (const { keeps, workload } of victims) {
    const victim = told.jobs.get(workload)!
    const { lease: holds, startedAt } = victim.run!
    if (at < startedAt + deadlineMs) return `${workload} gives back at ${at} what it holds since ${startedAt}`
    if (victim.data.queue === job.data.queue) return `${workload} gives back what is its queue's own`
    for (const node of borrowersOf(told, victim, job)) {
      const amounts = freed.get(node) ?? []
      freed.set(node, [...amounts, sizeOf(holds) - sizeOf(keeps ?? [])])
    }
  }
  for (const [node, amounts] of freed) {
    const stays = Number(tree.usage(node, ...any)) + comingOf(told, node, job) - leavingOf(told, node)
    const beyond = stays - Number(tree.subtree(node, ...any))
    const before = beyond - amounts.reduce((sum, each) => sum + each, 0) + Math.max(...amounts)
    if (before <= 0) return `${node} gives back ${amounts.join(', ')}, and has borrowed ${beyond}`
  }
  return null
}

/** Who would have to borrow it takes nothing, for a share, of a queue that lends until a deadline and borrows nothing. */
export const takesUnlent = (told: ToldCell, job: Job, { lease, victims }: PreemptionDecided['data']): string | null => {
  const { queues } = told.policy!
  const tree = quotaTreeOf(told)
  const hasQuota = queues.some(({ name, quotas }) => name === job.data.queue && quotas !== undefined)
  if (!hasQuota || hasOwnRoom(tree, job, sizeOf(lease))) return null
  for (const { workload } of victims) {
    const { queue } = told.jobs.get(workload)!.data
    const lends = queues.some(({ lendingDeadlineMs, name }) => name === queue && lendingDeadlineMs !== undefined)
    if (lends && tree.usage(`queue ${queue}`, ...any) <= tree.subtree(`queue ${queue}`, ...any))
      return `${job.id} takes of ${queue} by ${workload} what it would have to give back`
  }
  return null
}

const hasOwnRoom = (tree: NaiveQuotaTree, { data: { queue } }: Job, size: number): boolean => {
  const node = `queue ${queue}`
  return tree.usage(node, ...any) + BigInt(size) <= tree.subtree(node, ...any)
}

/** The victim's queue, and the cohorts above it that are not above the owner's, too. */
const borrowersOf = (told: ToldCell, victim: Job, owner: Job): ReadonlyArray<string> => {
  const shared = new Set(upwards(told, owner.data.queue))
  return upwards(told, victim.data.queue).filter((node) => !shared.has(node))
}

const upwards = ({ policy }: ToldCell, queue: string): ReadonlyArray<string> => {
  const { cohorts = [], queues } = policy!
  const nodes = [`queue ${queue}`]
  let above = queues.find(({ name }) => name === queue)?.cohort ?? null
  while (above !== null) {
    nodes.push(`cohort ${above}`)
    above = cohorts.find(({ name }) => name === above)?.parent ?? null
  }
  return nodes
}

/** What places are kept for below it, for others. */
const comingOf = (told: ToldCell, node: string, job: Job): number => {
  let size = 0
  for (const [id, { decision }] of told.places)
    if (id !== job.id && upwards(told, told.jobs.get(id)!.data.queue).includes(node)) size += sizeOf(decision.lease)
  return size
}

/** What those below it who were asked to leave for others give back, and have not. */
const leavingOf = (told: ToldCell, node: string): number => {
  let size = 0
  for (const { data, run } of told.jobs.values())
    if (run?.open?.because === 'preempted' && upwards(told, data.queue).includes(node))
      size += sizeOf(run.lease) - sizeOf(run.open.keeps ?? [])
  return size
}
