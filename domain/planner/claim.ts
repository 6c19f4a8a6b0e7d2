import type { EpochMs } from '../kernel/units.ts'
import { sharingOf } from '../policy/allocation-policy.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { exceptedUntil } from './protection.ts'
import { lacksRoom } from './room-reason.ts'
import type { Workload } from './workload.ts'

/** What a side of a workload is owed and others hold. */
export interface Claim {
  /** Path of the side in the budget tree. */
  readonly node: string
  /** Milli-units that it is owed now and does not hold. */
  readonly lackingMilli: number
  /** When its debt reaches `reclaimAfter`, if it lacks as much until then; not after now: it has. */
  readonly at: EpochMs
  /** All that runs there is excepted from being evicted: until then, or (null) with the policy; absent: not all of it is. */
  readonly spared?: { readonly until: EpochMs | null }
  /** All that runs there never tolerates being evicted: only their ends make room. */
  readonly firm?: true
}

/**
 * The nearest side of a waiting workload that may take back what it lacks once its debt is large enough: it lacks as much
 * as the workload takes, or holds nothing, and a sibling holds more than it is entitled to. Null: there is none, or room
 * is not what the workload waits for. O(depth and siblings). The ledger is brought to the cell's time.
 */
export const claimOf = (cell: Cell, { account, hold }: Workload): Claim | null => {
  const { books, now, policy } = cell
  if (books === null || policy === null || account === null || hold === null) return null
  if (sharingOf(policy) !== 'budgets' || !lacksRoom.has(hold.code)) return null
  books.advance(now)
  const { budgets, ledger } = books
  for (const node of books.upwards(account.node)) {
    if (ledger.parent(node) < 0 || !ledger.isBehind(node)) continue
    const { charged, entitled, held, owed, owedRate, path } = ledger.read(node)
    const lacking = owedRate - held
    if (held > 0 && lacking < account.rate) continue
    const beside = ledger.overBeside(node)
    if (beside.length === 0) continue
    // Less than nothing is owed where more was charged: that has to be made up for first.
    const missing = BigInt(budgets.reclaimAfterMs) * BigInt(entitled) - (owed - charged)
    const waitMs = missing > 0n ? Number((missing + BigInt(lacking) - 1n) / BigInt(lacking)) : 0
    const spared = policy.exceptions === undefined ? null : sparedOf(cell, books, beside)
    return {
      node: path,
      lackingMilli: lacking,
      at: (now + waitMs) as EpochMs,
      ...(spared !== null && { spared }),
      ...(isFirm(books, beside) && { firm: true }),
    }
  }
  return null
}

/** Until the first of those who run there may be evicted again, where an exception spares every one of them now. */
const sparedOf = (
  { now, policy }: Cell,
  books: Books,
  beside: ReadonlyArray<number>,
): NonNullable<Claim['spared']> | null => {
  let first = Infinity
  for (const side of beside)
    for (const one of books.runningBelow(side)) {
      const until = exceptedUntil(policy, one, now)
      if (until === null) return null
      first = Math.min(first, until)
    }
  return { until: first === Infinity ? null : (first as EpochMs) }
}

const isFirm = (books: Books, beside: ReadonlyArray<number>): boolean => {
  for (const side of beside)
    for (const { terms } of books.runningBelow(side)) if (terms.preemption.tolerated) return false
  return true
}
