import type { EpochMs } from '../kernel/units.ts'
import { sharingOf } from '../policy/allocation-policy.ts'
import type { Cell } from './cell.ts'
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
    const parent = ledger.parent(node)
    if (parent < 0 || !ledger.isBehind(node)) continue
    const { charged, entitled, held, owed, owedRate, path } = ledger.read(node)
    const lacking = owedRate - held
    if (held > 0 && lacking < account.rate) continue
    const isHeldBeside = ledger
      .children(parent)
      .some((side) => side !== node && ledger.held(side) > ledger.entitled(side))
    if (!isHeldBeside) continue
    // Less than nothing is owed where more was charged: that has to be made up for first.
    const missing = BigInt(budgets.reclaimAfterMs) * BigInt(entitled) - (owed - charged)
    const waitMs = missing > 0n ? Number((missing + BigInt(lacking) - 1n) / BigInt(lacking)) : 0
    return { node: path, lackingMilli: lacking, at: (now + waitMs) as EpochMs }
  }
  return null
}
