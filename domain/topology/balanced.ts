import { inLeaderOrder, inOrder, type DomainShare } from './division.ts'
import type { DomainRoom } from './domain-room.ts'
import { numbers } from './level-tree.ts'
import type { GangRequest } from './gang.ts'
import { smallestSet } from './smallest-set.ts'

/** What domains of the level get. */
export interface BalancedPlace {
  readonly level: number
  readonly shares: ReadonlyArray<DomainShare>
}

/** Siblings among which a gang could be spread, with what each would get at least. */
interface Candidate {
  readonly room: DomainRoom
  readonly domains: ReadonlyArray<number>
  /** Slices that the least loaded domain gets. */
  readonly least: number
  /** Domains that would be used. */
  readonly used: number
}

/**
 * Spreads a gang inside one domain above its level: over as few domains as will do, and so that the least loaded has as
 * much as possible. Null: that cannot be done.
 */
export const placeBalanced = (room: DomainRoom, request: GangRequest): BalancedPlace | null => {
  const units = request.replicas / room.slices.size
  const best = bestCandidate(room, request.level, units)
  if (best === null) return null
  if (request.level === room.slices.level) return spread(best.room, best.domains, request.level, units, best.least)
  const evenFirst = mostEvenFirst(best.room, best.domains)
  const chosen = smallestSet(best.room, evenFirst, units, fewest(best.room, best.domains, units))
  if (chosen === null) return null
  return spread(best.room, childrenOf(best.room, chosen), request.level + 1, units, best.least)
}

const bestCandidate = (room: DomainRoom, level: number, units: number): Candidate | null => {
  let best: Candidate | null = null
  for (const siblings of siblingsAt(room, level)) {
    const candidate = candidateAmong(room, siblings, level, units, best?.least ?? 1)
    if (candidate === null) continue
    if (best === null || candidate.least > best.least || candidate.used < best.used) best = candidate
  }
  return best
}

/** The domains of a level, by the domain above. */
const siblingsAt = ({ tree }: DomainRoom, level: number): ReadonlyArray<ReadonlyArray<number>> => {
  if (level === 0) return [numbers(tree.domainsOf(0))]
  return numbers(tree.domainsOf(level - 1)).map((domain) => numbers(tree.childrenOf(domain)))
}

/** Null: the least loaded of them would have less than `leastWanted`. */
const candidateAmong = (
  room: DomainRoom,
  domains: ReadonlyArray<number>,
  level: number,
  units: number,
  leastWanted: number,
): Candidate | null => {
  const loaded = level < room.slices.level ? childrenOf(room, domains) : domains
  const filled = fill(room, loaded, units)
  if (filled === null) return null
  const attempts = new Set([filled.least, Math.min(filled.least, filled.leastBesideLeader)])
  for (const least of attempts) {
    if (least < leastWanted) return null
    const pruned = withoutBelow(room, domains, level, least)
    const kept = fill(pruned, domains, units)
    if (kept !== null) return { room: pruned, domains, least, used: kept.used }
  }
  return null
}

interface Filled {
  readonly used: number
  /** The most that each of the domains used could get, if all got the same. */
  readonly least: number
  /** What the last of them holds beside the leader. */
  readonly leastBesideLeader: number
}

/** How many domains it takes with the roomiest first; null: more than there are. */
const fill = (room: DomainRoom, domains: ReadonlyArray<number>, units: number): Filled | null => {
  const { whole, wholeBeside, leads, withLeader } = room
  let left = units
  let used = 0
  let least = Infinity
  let leastBesideLeader = Infinity
  const host = withLeader ? inLeaderOrder(room, domains, 'tightest')[0] : undefined
  if (withLeader) {
    if (host === undefined || leads[host] === 0) return null
    left -= wholeBeside[host]!
    least = wholeBeside[host]!
    used++
  }
  for (const domain of inOrder(room, domains, 'tightest')) {
    if (left <= 0) break
    if (domain === host) continue
    if (whole[domain] === 0) return null
    left -= whole[domain]!
    least = Math.min(least, whole[domain]!)
    leastBesideLeader = wholeBeside[domain]!
    used++
  }
  if (left > 0) return null
  return { used, least: Math.min(least, Math.floor(units / used)), leastBesideLeader }
}

const fewest = (room: DomainRoom, domains: ReadonlyArray<number>, units: number): number =>
  fill(room, domains, units)?.used ?? 0

/** As the room would be if nothing with room for fewer slices than `least` were there. */
const withoutBelow = (room: DomainRoom, domains: ReadonlyArray<number>, level: number, least: number): DomainRoom => {
  const pruned = room.copy()
  const above = level < room.slices.level
  if (above) for (const child of childrenOf(room, domains)) prune(pruned, child, least)
  for (const domain of domains) {
    if (above) pruned.countOne(level, domain)
    prune(pruned, domain, least)
  }
  return pruned
}

const prune = (room: DomainRoom, domain: number, least: number): void => {
  const { whole, wholeBeside, replicas, replicasBeside, leads } = room
  const empty = whole[domain]! < least
  if (empty) replicas[domain] = whole[domain] = 0
  if (!room.withLeader || (!empty && (leads[domain] === 0 || wholeBeside[domain]! >= least))) return
  replicasBeside[domain] = wholeBeside[domain] = leads[domain] = 0
}

/** Gives each of the fewest domains that hold everything `least` slices, and what is over to the roomiest. */
const spread = (
  room: DomainRoom,
  domains: ReadonlyArray<number>,
  level: number,
  units: number,
  least: number,
): BalancedPlace | null => {
  const { whole, wholeBeside, leads, slices, withLeader } = room
  const chosen = smallestSet(room, domains, units, fewest(room, domains, units))
  if (chosen === null || units < chosen.length * least) return null
  const ordered = inLeaderOrder(room, chosen, 'tightest')
  if (withLeader && leads[ordered[0]!] === 0) return null
  let over = units - ordered.length * least
  const shares = ordered.map((domain, i) => {
    const leader = withLeader && i === 0
    const more = Math.min((leader ? wholeBeside : whole)[domain]! - least, over)
    over -= more
    return { domain, replicas: (least + more) * slices.size, leader }
  })
  return over > 0 ? null : { level, shares }
}

/** The roomiest first, then those whose children have most evenly the same room, then by path. */
const mostEvenFirst = (room: DomainRoom, domains: ReadonlyArray<number>): ReadonlyArray<number> => {
  const { leads, wholeBeside, tree } = room
  const evenness = new Map(domains.map((domain) => [domain, evennessOf(room, numbers(tree.childrenOf(domain)))]))
  return [...domains].sort(
    (a, b) =>
      leads[b]! - leads[a]! ||
      wholeBeside[b]! - wholeBeside[a]! ||
      moreEven(evenness.get(a)!, evenness.get(b)!) ||
      a - b,
  )
}

/** Over how many equal parts the room would be as even: the square of its sum over the sum of its squares. */
interface Evenness {
  readonly sumSquared: bigint
  readonly squares: bigint
}

const evennessOf = ({ replicas }: DomainRoom, domains: ReadonlyArray<number>): Evenness => {
  let sum = 0n
  let squares = 0n
  for (const domain of domains) {
    const room = BigInt(replicas[domain]!)
    sum += room
    squares += room * room
  }
  return { sumSquared: sum * sum, squares: squares === 0n ? 1n : squares }
}

/** Negative: the first is more even. Exact, for the order decides where work goes. */
const moreEven = (a: Evenness, b: Evenness): number => {
  const difference = b.sumSquared * a.squares - a.sumSquared * b.squares
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const childrenOf = ({ tree }: DomainRoom, domains: ReadonlyArray<number>): ReadonlyArray<number> =>
  domains.flatMap((domain) => numbers(tree.childrenOf(domain)))
