import type { HeadOutcome } from '../kueue/admission-cycle.ts'
import type { Block } from './block.ts'
import type { Cell } from './cell.ts'
import { quotaBlock, roomBlock, waitsForVictims } from './kueue-block.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { KueueReason } from './kueue-held.ts'
import type { KueuePlacer } from './kueue-placer.ts'
import type { KueueProtection } from './kueue-protection.ts'
import type { Workload } from './workload.ts'

/** What a pass knows of who was looked at. */
interface Looked {
  readonly cell: Cell
  readonly books: KueueBooks
  readonly placer: KueuePlacer
  readonly protection: KueueProtection
}

/** Why one waits that was looked at and nothing came of it. */
export const kueueReason = (looked: Looked, workload: Workload, outcome: HeadOutcome): KueueReason => {
  const { assignment, head, reason } = outcome
  const { protection } = looked
  if (reason === 'WaitingForVictims') return waitsForVictims(workload, [], null)
  const preempts = assignment.mode === 'preempt'
  const refused = preempts ? protection.blockOf(head.id) : null
  if (refused !== null) return { ...refused, behind: null }
  // It lacks what others hold who are never to be evicted for it: that is what binds.
  const lasting = preempts ? protection.lastingRuleOf(head.id) : null
  return { ...lackOf(looked, workload, outcome), ...(lasting !== null && { rule: lasting }), behind: null }
}

/** What it lacks: quota, or a place. */
const lackOf = ({ books, cell, placer }: Looked, workload: Workload, outcome: HeadOutcome): Block => {
  const { head, reason } = outcome
  if (reason === 'WaitingForQuota' && hasQuota(books, outcome) && placer.placeless.has(head.id))
    return placer.keptFrom(head.id) ?? roomBlock(cell.fleet, workload.shape)
  return quotaBlock(books, workload, outcome)
}

export const hasQuota = ({ holdings: { tree } }: KueueBooks, { assignment, head }: HeadOutcome): boolean =>
  assignment.usage.every(([one, amount]) => amount <= tree.available(head.queue, one))
