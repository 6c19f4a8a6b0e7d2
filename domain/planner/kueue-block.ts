import type { Fleet } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { HeadOutcome } from '../kueue/admission-cycle.ts'
import type { Victim } from '../kueue/preemption-request.ts'
import { quotaResources, type QuotaResource } from '../policy/quota-policy.ts'
import { quotaStanding } from '../quota/quota-standing.ts'
import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import type { Block } from './block.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { KueueReason } from './kueue-held.ts'
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
      const { asked, available } = shortestOf(tree, head.queue, asks, exceeds)
      const compared = { asked, available }
      return { code: exceeds ? 'ExceedsMaxQuota' : 'WaitingForQuota', rule, compared }
    }
  }
}

/** The same worked out anew, of the accelerator that its fewest replicas come nearest to; null: it asks for no quota. */
export const quotaShortage = (
  books: KueueBooks,
  workload: Workload,
  exceeds: boolean,
): { readonly compared: NonNullable<Block['compared']>; readonly resource: QuotaResource } | null => {
  const { tree } = books.holdings
  const { accepts, podSets, queue } = books.asks.headOf(workload)
  const [podSet] = podSets
  let nearest: ReturnType<typeof shortestOf> | null = null
  for (const { flavorResources, name } of books.rulesOf(queue).groups[0]?.flavors ?? []) {
    if (podSet === undefined || !accepts(0, name)) continue
    const asks = podSet.requests.flatMap(([resource, amount]): ReadonlyArray<readonly [number, number]> => {
      const one = flavorResources[quotaResources.indexOf(resource as QuotaResource)] ?? -1
      return one < 0 ? [] : [[one, amount * podSet.minCount]]
    })
    const shortest = shortestOf(tree, queue, asks, exceeds)
    if (shortest.asked === 0) continue
    if (nearest === null || shortest.asked - shortest.available < nearest.asked - nearest.available) nearest = shortest
  }
  if (nearest === null) return null
  const { asked, available, flavorResource } = nearest
  return {
    compared: { asked, available, ...(!exceeds && quotaStanding(tree, queue, flavorResource)) },
    resource: tree.flavorResources[flavorResource]!.resource as QuotaResource,
  }
}

const shortestOf = (tree: QuotaTree, queue: number, asks: Usage, exceeds: boolean) => {
  let [asked, available, flavorResource] = [0, 0, -1]
  for (const [one, amount] of asks) {
    const most = exceeds ? tree.potential(queue, one) : Math.max(0, tree.available(queue, one))
    if (asked > 0 && amount - most <= asked - available) continue
    asked = amount
    available = most
    flavorResource = one
  }
  return { asked, available, flavorResource }
}
