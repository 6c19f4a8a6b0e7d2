import type { Cell } from './cell.ts'
import { LeafOrder } from './leaf-order.ts'
import type { Line } from './line.ts'
import { chain, sharedQuota } from './serving-sequence.ts'
import type { Workload } from './workload.ts'

/** Those who go before a workload of those that it stands in one order with. */
export interface Ahead {
  readonly count: number
  /** The first of them, in order. */
  readonly first: ReadonlyArray<Workload>
}

type IsBefore = (a: Workload, b: Workload) => boolean

/** It waits, is let wait for a turn, and the policy has a place for it. */
export const standsInOrder = ({ books, policy }: Cell, { account, onHold, queue, run }: Workload): boolean =>
  run === null && !onHold && (policy === null || (queue.index >= 0 && (books === null || account !== null)))

/**
 * By class, as it has aged, and by age: within its person's part of its leaf where books are kept, within its queue where
 * quota is shared as Kueue does, behind what its team has used where that counts; else within its queue, by age alone. O(its lines), and what is named; without lines, or by usage, O(what stands before it).
 */
export const aheadOf = (cell: Cell, workload: Workload, namedMax: number): Ahead => {
  const { books, kueue, now, policy } = cell
  if (!standsInOrder(cell, workload)) return { count: 0, first: [] }
  if (policy === null || (books === null && kueue === null)) return aheadInQueue(workload, namedMax)
  // Who is ahead counts as started, which makes a difference to who comes next.
  if (kueue?.usage != null) return aheadIn(sharedQuota(cell, workload.queue), workload, namedMax)
  const order = LeafOrder.of(policy, now)
  const lines = books === null ? workload.queue.lines : (books.lines.get(workload.account!.node) ?? [])
  return aheadAmong(lines, (a, b) => order.isBefore(a, b), workload, namedMax)
}

const aheadAmong = (lines: Iterable<Line>, isBefore: IsBefore, workload: Workload, namedMax: number): Ahead => {
  let count = 0
  let isMixed = false
  const fronts: Workload[] = []
  for (const line of lines) {
    // In its own line all are of its class, and those before it have waited no less.
    const before =
      line === workload.line ? line.countBefore(workload) : line.countWhile((member) => isBefore(member, workload))
    if (before === 0) continue
    count += before
    isMixed ||= fronts.length > 0
    line.gather(fronts, Math.min(before, namedMax))
  }
  if (!isMixed) return { count, first: fronts }
  fronts.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  return { count, first: fronts.slice(0, namedMax) }
}

const aheadInQueue = (workload: Workload, namedMax: number): Ahead => aheadIn(chain(workload.queue), workload, namedMax)

const aheadIn = (sequence: Iterable<Workload>, workload: Workload, namedMax: number): Ahead => {
  const first: Workload[] = []
  let count = 0
  for (const one of sequence) {
    if (one === workload) break
    if (++count <= namedMax) first.push(one)
  }
  return { count, first }
}
