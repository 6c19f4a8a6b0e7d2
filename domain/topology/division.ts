import type { DomainRoom } from './domain-room.ts'

/** What a domain gets: replicas, and perhaps the leader that goes with them. */
export interface DomainShare {
  readonly domain: number
  readonly replicas: number
  readonly leader: boolean
}

/** How much of it a domain has room for, in units of so many replicas; `beside`: beside the leader. */
export interface RoomInUnits {
  readonly unit: number
  readonly room: (domain: number) => number
  readonly beside: (domain: number) => number
}

export const inWholeSlices = ({ slices, whole, wholeBeside }: DomainRoom): RoomInUnits => ({
  unit: slices.size,
  room: (domain) => whole[domain]!,
  beside: (domain) => wholeBeside[domain]!,
})

export const inReplicas = ({ replicas, replicasBeside }: DomainRoom, unit: number): RoomInUnits => ({
  unit,
  room: (domain) => Math.floor(replicas[domain]! / unit),
  beside: (domain) => Math.floor(replicasBeside[domain]! / unit),
})

/** `tightest`: most room first, and the last domain is the one that has least left; `fullest`: least room first. */
export type Fit = 'tightest' | 'fullest'

/**
 * Domains in the order in which they are filled: by whole slices, then least room for replicas, then path. Below the
 * level of the slices there are none of them to go by: least room first.
 */
export const inOrder = ({ whole, replicas }: DomainRoom, domains: ReadonlyArray<number>, fit: Fit): number[] => {
  const sign = fit === 'tightest' ? -1 : 1
  return [...domains].sort((a, b) => sign * (whole[a]! - whole[b]!) || replicas[a]! - replicas[b]! || a - b)
}

/** The same by what they hold beside the leader; those that have no place for it come last. */
export const inLeaderOrder = (room: DomainRoom, domains: ReadonlyArray<number>, fit: Fit): number[] => {
  const { leads, wholeBeside, replicasBeside } = room
  const sign = fit === 'tightest' ? -1 : 1
  return [...domains].sort(
    (a, b) =>
      leads[b]! - leads[a]! ||
      sign * (wholeBeside[a]! - wholeBeside[b]!) ||
      replicasBeside[a]! - replicasBeside[b]! ||
      a - b,
  )
}

export interface Division {
  readonly shares: ReadonlyArray<DomainShare>
  /** Units that found no room; `leaderLeft`: nor did the leader. */
  readonly left: number
  readonly leaderLeft: boolean
}

/**
 * Gives `units` to the domains in their order, as much as each has room for. The leader goes first: to the first domain
 * of `leaderOrder` that has a place for it and leaves room enough for everything.
 */
export const divide = (
  room: DomainRoom,
  inUnits: RoomInUnits,
  units: number,
  order: ReadonlyArray<number>,
  leaderOrder: ReadonlyArray<number> | null,
  fit: Fit,
): Division => {
  const shares: DomainShare[] = []
  let left = units
  let host = -1
  if (leaderOrder !== null) {
    host = hostOfLeader(room, inUnits, units, leaderOrder, fit)
    if (host < 0) return { shares, left, leaderLeft: true }
    const taken = Math.min(left, inUnits.beside(host))
    shares.push({ domain: host, replicas: taken * inUnits.unit, leader: true })
    left -= taken
  }
  for (let i = 0; i < order.length && left > 0; i++) {
    let domain = order[i]!
    if (domain === host) continue
    if (fit === 'tightest' && inUnits.room(domain) >= left) domain = tightest(order, i, left, inUnits.room, host)
    const taken = Math.min(left, inUnits.room(domain))
    if (taken > 0) shares.push({ domain, replicas: taken * inUnits.unit, leader: false })
    left -= taken
  }
  return { shares, left, leaderLeft: false }
}

/** -1: none has a place for it and leaves room enough. */
const hostOfLeader = (
  { leads }: DomainRoom,
  { room, beside }: RoomInUnits,
  units: number,
  order: ReadonlyArray<number>,
  fit: Fit,
): number => {
  let sum = 0
  for (const domain of order) sum += room(domain)
  const first = order.find((domain) => leads[domain] === 1 && sum - room(domain) + beside(domain) >= units)
  if (first === undefined) return -1
  if (fit === 'fullest' || beside(first) < units) return first
  return tightest(
    order.filter((domain) => leads[domain] === 1),
    0,
    units,
    beside,
    -1,
  )
}

/** Of the domains from the i-th on that hold so much, the one that holds least; the first of the order on a tie. */
const tightest = (
  order: ReadonlyArray<number>,
  from: number,
  units: number,
  room: (domain: number) => number,
  except: number,
): number => {
  let best = -1
  let least = Infinity
  for (let i = from; i < order.length; i++) {
    const domain = order[i]!
    const here = room(domain)
    if (domain === except || here < units || here >= least) continue
    best = domain
    least = here
  }
  return best
}
