import type { EpochMs } from '../kernel/units.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { kindsOfStart } from './line-set.ts'
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
  const { account } = workload
  if (books === null || account === null || workload.line === null) return null
  const expected = expectedWait(waits, books, workload, at)
  if (expected === null) return null
  const expectedWaitMs = Math.max(expectedMin, expected)
  const reach = reachOf(expectedWaitMs)
  const band = waits.band(kindsOf(workload, expectedWaitMs), levelsOf(workload, reach), reach)
  const after = (ratio: number | undefined): EpochMs | null =>
    ratio === undefined ? null : ((at + Number((BigInt(expectedWaitMs) * BigInt(ratio)) / 1000n)) as EpochMs)
  return { expectedWaitMs, from: after(band?.low), median: after(band?.median), to: after(band?.high) }
}

/** It starts after all: what it was told is scored, and remembered for others. */
export const scoreWait = (waits: WaitHistory, workload: Workload, at: EpochMs): void => {
  const { projected } = workload
  if (projected === null) return
  workload.projected = null
  const { expectedWaitMs, from, to } = projected
  waits.add(ownKinds(workload, expectedWaitMs), Math.floor(((at - projected.at) * 1000) / expectedWaitMs))
  if (from === null || to === null) return
  const reach = reachOf(expectedWaitMs)
  waits.score(levelsOf(workload, reach), reach, at < from ? 'before' : at > to ? 'behind' : 'within')
}

/** By the finest kind of which enough have started, to tell a pace. */
const expectedWait = (waits: WaitHistory, books: Books, workload: Workload, at: EpochMs): number | null => {
  const { path } = workload.account!
  for (const kind of kindsOfStart(workload)) {
    const expected = waits.expected(startKey(path, kind), aheadOfKind(books, workload, kind), at)
    if (expected !== null) return expected
  }
  return null
}

/**
 * How many of its kind came before it in its leaf, and itself: within a class the older goes first. Persons are served side by side: of each other one's, no more
 * than what is ahead of it in its own part.
 */
const aheadOfKind = (books: Books, workload: Workload, kind: string): number => {
  const { node } = workload.account!
  let own = 1
  for (const line of books.lines.get(node) ?? []) {
    if (line.kinds.includes(kind)) own += line.countWhile(({ seq }) => seq < workload.seq)
  }
  let all = own
  for (const person of books.ledger.children(books.ledger.parent(node)))
    if (person !== node) all += Math.min(own, books.lines.get(person)?.sizeOf(kind) ?? 0)
  return all
}

/** Under these a start is remembered. */
export const startKeys = (workload: Workload, leaf: string): ReadonlyArray<string> =>
  kindsOfStart(workload).map((kind) => startKey(leaf, kind))

const startKey = (leaf: string, kind: string): string => JSON.stringify([leaf, kind])

/**
 * From fine to coarse: the longer a wait is expected to be, the closer it comes to that, so those of another length are
 * asked last, shorter ones first.
 */
const kindsOf = (workload: Workload, expectedWaitMs: number): ReadonlyArray<string> => {
  const { account, class: kind, shape } = workload
  const size = 31 - Math.clz32(Math.max(1, shape.request.devices))
  const again = turnOf(workload)
  const length = lengthOf(expectedWaitMs)
  const path = account?.path ?? ''
  const kinds = [JSON.stringify([again, length, path, kind, size]), JSON.stringify([again, length, path, kind])]
  for (let each = length; each >= 0; each--)
    kinds.push(JSON.stringify([again, each, kind]), JSON.stringify([again, each]))
  return [...kinds, again]
}

/** Those that it is one of itself. */
const ownKinds = (workload: Workload, expectedWaitMs: number): ReadonlyArray<string> => {
  const kinds = kindsOf(workload, expectedWaitMs)
  return [...kinds.slice(0, 4), kinds.at(-1)!]
}

/** How often a minute has to be doubled. */
const lengthOf = (ms: number): number => 31 - Math.clz32(Math.floor(ms / expectedMin))

const longMs = 6 * 3_600_000
const reachOf = (expectedWaitMs: number): Reach => (expectedWaitMs < longMs ? 'short' : 'long')

const levelsOf = (workload: Workload, reach: Reach): string => JSON.stringify([turnOf(workload), workload.class, reach])

/** What was stopped waits at its old place. */
const turnOf = ({ attempt }: Workload): string => (attempt > 0 ? 'again' : 'first')
