import type { EpochMs } from '../kernel/units.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type { Reach, WaitHistory } from './wait-history.ts'
import type { Workload } from './workload.ts'

/** When a workload should start, by what became of those before it; no reservation is needed for that. */
export interface ProjectedStart {
  /** What is ahead of it, and itself, at the pace at which its leaf starts work, ms. */
  readonly expectedWaitMs: number
  /** Between these it starts four times of five; null: too few have waited to tell. */
  readonly from: EpochMs | null
  readonly median: EpochMs | null
  readonly to: EpochMs | null
}

/** What a workload was told when it was held first, to be held against when it starts. */
export interface Projected {
  readonly at: EpochMs
  readonly expectedWaitMs: number
  readonly from: EpochMs | null
  readonly to: EpochMs | null
}

/** Shorter ones tell nothing of a pace. */
const expectedMin = 60_000

/** O(lines of its person + persons of its leaf). Null: its leaf has started too little to have a pace. */
export const projectedStart = (cell: Cell, workload: Workload, at: EpochMs): ProjectedStart | null => {
  const { books, waits } = cell
  const { account, line } = workload
  if (books === null || account === null || line === null) return null
  // All of a line are of one leaf, class and size.
  const keys = (line.waits ??= waits.keysOf(account.path, workload))
  const expected = expectedWait(waits, books, workload, keys.starts, at)
  if (expected === null) return null
  const expectedWaitMs = Math.max(expectedMin, expected)
  const reach = reachOf(expectedWaitMs)
  const band = waits.band(keys.kinds(workload, expectedWaitMs), keys.levels(workload, reach), reach)
  if (band === null) return { expectedWaitMs, from: null, median: null, to: null }
  const { low, median, high } = band
  return {
    expectedWaitMs,
    from: after(at, expectedWaitMs, low),
    median: after(at, expectedWaitMs, median),
    to: after(at, expectedWaitMs, high),
  }
}

/** @param ratio thousandths */
const after = (at: EpochMs, expectedWaitMs: number, ratio: number): EpochMs => {
  const thousandths = expectedWaitMs * ratio
  const wait = Number.isSafeInteger(thousandths)
    ? (thousandths - (thousandths % 1000)) / 1000
    : Number((BigInt(expectedWaitMs) * BigInt(ratio)) / 1000n)
  return (at + wait) as EpochMs
}

/** It starts after all: what it was told is scored, and remembered for others. */
export const scoreWait = (waits: WaitHistory, workload: Workload, at: EpochMs): void => {
  const { account, projected } = workload
  if (projected === null) return
  workload.projected = null
  const { expectedWaitMs, from, to } = projected
  const keys = waits.keysOf(account?.path ?? '', workload)
  waits.add(keys.ownKinds(workload, expectedWaitMs), Math.floor(((at - projected.at) * 1000) / expectedWaitMs))
  if (from === null || to === null) return
  const reach = reachOf(expectedWaitMs)
  waits.score(keys.levels(workload, reach), reach, at < from ? 'before' : at > to ? 'behind' : 'within')
}

/** By the finest kind of which enough have started, to tell a pace. */
const expectedWait = (
  waits: WaitHistory,
  books: Books,
  workload: Workload,
  starts: ReadonlyArray<string>,
  at: EpochMs,
): number | null => {
  for (let i = 0; i < starts.length; i++) {
    const expected = waits.expected(starts[i]!, () => aheadOfKind(books, workload, workload.line!.kinds[i]!), at)
    if (expected !== null) return expected
  }
  return null
}

/**
 * How many of its kind came before it in its leaf, and itself: within a class the older goes first. Persons are served
 * side by side: of each other one's, no more than what is ahead of it in its own part.
 */
const aheadOfKind = (books: Books, workload: Workload, kind: string): number => {
  const { account, line: ownLine } = workload
  const { node } = account!
  let own = 1
  for (const line of books.lines.get(node)!) {
    if (line === ownLine) own += line.countBefore(workload)
    else if (line.kinds.includes(kind)) own += line.countWhile(({ seq }) => seq < workload.seq)
  }
  return own + books.crowds.beside(books.ledger.parent(node), node, kind, own)
}

const longMs = 6 * 3_600_000
const reachOf = (expectedWaitMs: number): Reach => (expectedWaitMs < longMs ? 'short' : 'long')
