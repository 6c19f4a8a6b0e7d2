import { assert } from '../kernel/decider.ts'
import { placeBalanced } from './balanced.ts'
import {
  divide,
  inLeaderOrder,
  inOrder,
  inReplicas,
  inWholeSlices,
  type Division,
  type DomainShare,
  type Fit,
} from './division.ts'
import type { DomainRoom } from './domain-room.ts'
import { numbers } from './level-tree.ts'

/**
 * How far replicas may lie apart. `required`: all in one domain of the level; `preferred`: the same, else the next
 * coarser level, at the coarsest as few domains as needed; `unconstrained`: anywhere.
 */
export type GangMode = 'required' | 'preferred' | 'unconstrained'

export interface GangRequest {
  /** Whole slices of them. */
  readonly replicas: number
  readonly mode: GangMode
  /** Number of a level not below that of the slices; of `unconstrained`, where the search starts. */
  readonly level: number
  readonly fit: Fit
  /** For `preferred`: spread so that the least loaded domain gets as much as possible, where that can be done. */
  readonly balanced: boolean
}

/** Shares of leaves; or how many of the slices asked for would have found room. */
export type GangPlace =
  | { readonly placed: true; readonly shares: ReadonlyArray<DomainShare> }
  | { readonly placed: false; readonly fitting: number }

/** Chooses domains at a level and goes down from there, level by level, with as few domains at each as will do. */
export const placeGang = (room: DomainRoom, request: GangRequest): GangPlace => {
  assert(request.replicas % room.slices.size === 0, 'a gang is whole slices')
  assert(request.level <= room.slices.level, 'slices are no larger than the domains that hold them')
  const balanced = request.balanced && request.mode === 'preferred' ? placeBalanced(room, request) : null
  if (balanced !== null) {
    const { shares, level } = balanced
    return { placed: true, shares: downTo(room, shares, level, request.fit) }
  }
  const chosen = choose(room, request)
  if (!('shares' in chosen)) return { placed: false, fitting: chosen.fitting }
  const { shares, level } = togetherDown(room, request, chosen)
  return { placed: true, shares: downTo(room, shares, level, request.fit) }
}

interface Chosen {
  readonly level: number
  readonly shares: ReadonlyArray<DomainShare>
}

/** The level, and what its domains get. */
const choose = (room: DomainRoom, request: GangRequest): Chosen | { readonly fitting: number } => {
  const { mode, fit, replicas } = request
  const units = replicas / room.slices.size
  for (let { level } = request; ; level--) {
    const one = oneForAll(room, level, units)
    if (one >= 0) return { level, shares: [{ domain: one, replicas, leader: room.withLeader }] }
    if (mode === 'required') return { fitting: mostInOne(room, level) }
    if (mode === 'preferred' && level > 0) continue
    const domains = numbers(room.tree.domainsOf(level))
    const leaderOrder = room.withLeader ? inLeaderOrder(room, domains, fit) : null
    const division = divide(room, inWholeSlices(room), units, inOrder(room, domains, fit), leaderOrder, fit)
    const { shares, left, leaderLeft } = division
    return left === 0 && !leaderLeft ? { level, shares } : { fitting: leaderLeft ? 0 : units - left }
  }
}

/** Of the domains of the level that hold everything, the one that has least room; -1: none does. */
const oneForAll = (room: DomainRoom, level: number, units: number): number => {
  const { leads, withLeader, wholeBeside, replicasBeside } = room
  const [first, end] = room.tree.domainsOf(level)
  let best = -1
  for (let domain = first; domain < end; domain++) {
    if (wholeBeside[domain]! < units || (withLeader && leads[domain] === 0)) continue
    const tighter =
      best < 0 ||
      wholeBeside[domain]! < wholeBeside[best]! ||
      (wholeBeside[domain] === wholeBeside[best] && replicasBeside[domain]! < replicasBeside[best]!)
    if (tighter) best = domain
  }
  return best
}

/** Slices that the first domain to be looked at holds: of those that have a place for the leader the roomiest. */
const mostInOne = (room: DomainRoom, level: number): number => {
  const domains = numbers(room.tree.domainsOf(level))
  const first = (room.withLeader ? inLeaderOrder : inOrder)(room, domains, 'tightest')[0]
  return first === undefined ? 0 : room.whole[first]!
}

/** Above the level of the slices what the chosen domains got is divided anew over all their children together. */
const togetherDown = (room: DomainRoom, { replicas, fit }: GangRequest, chosen: Chosen): Chosen => {
  const { tree, slices } = room
  let { shares, level } = chosen
  for (; level < slices.level; level++) {
    const order = inOrder(
      room,
      shares.flatMap(({ domain }) => numbers(tree.childrenOf(domain))),
      fit,
    )
    const leaderOrder = room.withLeader ? order : null
    shares = whole(divide(room, inWholeSlices(room), replicas / slices.size, order, leaderOrder, fit))
  }
  return { level, shares }
}

/** From there on what a domain got goes to its own children. */
const downTo = (
  room: DomainRoom,
  chosen: ReadonlyArray<DomainShare>,
  from: number,
  fit: Fit,
): ReadonlyArray<DomainShare> => {
  const { tree, slices } = room
  let shares = chosen
  for (let level = from; level < tree.lowest; level++) {
    const inUnits = level < slices.level ? inWholeSlices(room) : inReplicas(room, slices.unit[level + 1]!)
    shares = shares.flatMap(({ domain, replicas, leader }) => {
      const order = inOrder(room, numbers(tree.childrenOf(domain)), fit)
      return whole(divide(room, inUnits, replicas / inUnits.unit, order, leader ? order : null, fit))
    })
  }
  return shares
}

const whole = ({ shares, left, leaderLeft }: Division): ReadonlyArray<DomainShare> => {
  assert(left === 0 && !leaderLeft, 'the children of a domain have the room that was counted for it')
  return shares
}
