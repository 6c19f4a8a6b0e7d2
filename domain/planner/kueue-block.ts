import type { Fleet } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { HeadOutcome } from '../kueue/admission-cycle.ts'
import type { Victim } from '../kueue/preemption-request.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { KueueReason } from './kueue-held.ts'
import type { Block } from './start-check.ts'
import type { Workload } from './workload.ts'

/** Where in the policy document that is said of the workload's queue. */
export const ruleOfQueue = ({ queue: { index } }: Workload, member: string): string => `spec.queues[${index}].${member}`

/** Quota would have it, and the fleet has no place. */
export const roomBlock = (fleet: Fleet, shape: Shape): Block => {
  const isFree = shape.needMilli > 0 && shape.needMilli <= fleet.freeFor(shape)
  if (isFree && shape.request.topology?.required !== undefined)
    return { code: 'TopologyPlacementFailed', rule: 'spec.topology.levels' }
  return { code: isFree ? 'FragmentedCapacity' : 'WaitingForCapacity', rule: 'spec.placement.strategy' }
}

export const waitsForVictims = (
  workload: Workload,
  victims: ReadonlyArray<Victim>,
  behind: Workload | null,
): KueueReason => ({
  code: 'WaitingForVictims',
  rule: ruleOfQueue(workload, 'preemption'),
  ...(victims.length > 0 && { compared: { victims: victims.length } }),
  behind,
})

/** What quota says, with the numbers of what it is shortest of. */
export const quotaBlock = (books: KueueBooks, workload: Workload, { assignment, head, reason }: HeadOutcome): Block => {
  const rule = ruleOfQueue(workload, 'quotas')
  switch (reason) {
    case 'NoMatchingAccelerator':
      return { code: 'NoMatchingAccelerator', rule }
    case 'TopologyPlacementFailed':
      return {
        code: 'TopologyPlacementFailed',
        rule: workload.shape.request.topology ? 'spec.topology.levels' : 'fleet',
      }
    case 'ExceedsMaxQuota':
    case 'WaitingForQuota':
    case 'WaitingForVictims':
    case null: {
      const exceeds = reason === 'ExceedsMaxQuota'
      const { tree } = books.holdings
      const asks = assignment.usage.length > 0 ? assignment.usage : books.asks.leastOf(workload)
      let [asked, available] = [0, 0]
      for (const [one, amount] of asks) {
        const most = exceeds ? tree.potential(head.queue, one) : Math.max(0, tree.available(head.queue, one))
        if (asked > 0 && amount - most <= asked - available) continue
        asked = amount
        available = most
      }
      return { code: exceeds ? 'ExceedsMaxQuota' : 'WaitingForQuota', rule, compared: { asked, available } }
    }
  }
}
