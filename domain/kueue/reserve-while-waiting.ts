import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import type { Assignment } from './assignment.ts'

/**
 * What is kept from later heads for one that needs evictions and finds nobody to evict: what its queue could use of it,
 * which is up to the borrowing limit where it borrows and up to the nominal quota where it does not.
 */
export const reservedWhileWaiting = (
  tree: QuotaTree,
  queue: number,
  { mode, borrowLevel, usage }: Pick<Assignment, 'mode' | 'borrowLevel' | 'usage'>,
): Usage => {
  if (mode !== 'preempt') return usage
  return usage.map(([flavorResource, amount]) => {
    const borrowing = borrowLevel > 0 ? tree.borrowing(queue, flavorResource) : 0
    const unused = tree.nominal(queue, flavorResource) + borrowing - tree.usage(queue, flavorResource)
    return [flavorResource, Math.max(0, Math.min(amount, unused))]
  })
}
