import type { DomainRoom } from './domain-room.ts'

/** Ways to fill a gang that are kept in mind at most; where there are more, the smallest set is not looked for. */
const waysMax = 200_000

/** Domains that were chosen, last first. */
interface Way {
  readonly domain: number
  readonly before: Way | null
}

/** Ways by what is left to be placed of the replicas; one map for those that still lack the leader, one for the rest. */
type WaysByLeft = readonly [placed: Map<number, Way | null>, lacking: Map<number, Way | null>]

/**
 * Of the sets of `used` domains that hold so many slices, and the leader where there is one, the one that holds the
 * fewest replicas; among equals the one whose domains come first in `order`. Null: there is none, or there are too many
 * ways to try.
 */
export const smallestSet = (
  room: DomainRoom,
  order: ReadonlyArray<number>,
  units: number,
  used: number,
): ReadonlyArray<number> | null => {
  const wanted = units * room.slices.size
  /** By how many domains they use. */
  const ways: WaysByLeft[] = Array.from({ length: used + 1 }, () => [new Map(), new Map()])
  ways[0]![room.withLeader ? 1 : 0].set(wanted, null)
  let count = 1
  for (const domain of order)
    for (let i = used; i > 0; i--) {
      count += extend(room, ways[i - 1]!, ways[i]!, domain)
      if (count > waysMax) return null
    }
  let best: number | null = null
  for (const left of ways[used]![0].keys()) if (left <= 0 && (best === null || left > best)) best = left
  return best === null ? null : chosenBy(ways[used]![0].get(best)!)
}

/** Adds the domain to every way; of those with the same left over the one that was found first stays. */
const extend = (
  { leads, whole, replicas, replicasBeside }: DomainRoom,
  before: WaysByLeft,
  after: WaysByLeft,
  domain: number,
): number => {
  const known = after[0].size + after[1].size
  const add = (to: Map<number, Way | null>, left: number, way: Way | null): void => {
    if (!to.has(left)) to.set(left, { domain, before: way })
  }
  for (const lacking of [0, 1] as const)
    for (const left of [...before[lacking].keys()].sort((a, b) => a - b)) {
      if (lacking === 0 && left <= 0) continue
      const way = before[lacking].get(left)!
      if (lacking === 1 && leads[domain] === 1) add(after[0], left - replicasBeside[domain]!, way)
      if (whole[domain]! > 0) add(after[lacking], left - replicas[domain]!, way)
    }
  return after[0].size + after[1].size - known
}

const chosenBy = (way: Way | null): ReadonlyArray<number> => {
  const chosen: number[] = []
  for (let at = way; at !== null; at = at.before) chosen.push(at.domain)
  return chosen.reverse()
}
