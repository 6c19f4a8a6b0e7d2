import { assert } from '../kernel/decider.ts'
import { placeBalanced } from './balanced.ts'
import {
  divide,
  inLeaderOrder,
  inOrder,
  inReplicas,
  inWholeSlices,
  tightest,
  type Division,
  type DomainShare,
  type Fit,
  type RoomInUnits,
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
  const level = togetherDown(room, request, chosen.level, chosen.shares)
  return { placed: true, shares: downTo(room, level.shares, level.level, request.fit) }
}

interface Chosen {
  readonly level: number
  readonly shares: ReadonlyArray<DomainShare>
}

/** The level, and what its domains get. */
const choose = (room: DomainRoom, request: GangRequest): Chosen | { readonly fitting: number } => {
  const { mode, fit } = request
  const units = request.replicas / room.slices.size
  const inUnits = inWholeSlices(room)
  for (let { level } = request; ; level--) {
    const domains = numbers(room.tree.domainsOf(level))
    const order = inOrder(room, domains, fit)
    const leaderOrder = room.withLeader ? inLeaderOrder(room, domains, fit) : null
    const one = oneForAll(room, inUnits, units, leaderOrder ?? order, fit)
    if (one >= 0) return { level, shares: [{ domain: one, replicas: request.replicas, leader: room.withLeader }] }
    if (mode === 'required') return { fitting: mostIn(inUnits, leaderOrder ?? order, fit) }
    if (mode === 'preferred' && level > 0) continue
    const { shares, left, leaderLeft } = divide(room, inUnits, units, order, leaderOrder, fit)
    return left === 0 && !leaderLeft ? { level, shares } : { fitting: leaderLeft ? 0 : units - left }
  }
}

/** A domain that holds everything: the smallest such, or, with the fullest first, the first. */
const oneForAll = (
  { withLeader, leads }: DomainRoom,
  { room, beside }: RoomInUnits,
  units: number,
  order: ReadonlyArray<number>,
  fit: Fit,
): number => {
  const held = withLeader ? (domain: number) => (leads[domain] === 1 ? beside(domain) : -1) : room
  if (fit === 'fullest') return order.find((domain) => held(domain) >= units) ?? -1
  return tightest(order, 0, units, held, -1)
}

/** What the roomiest domain of the order holds. */
const mostIn = ({ room }: RoomInUnits, order: ReadonlyArray<number>, fit: Fit): number => {
  const roomiest = fit === 'tightest' ? order[0] : order.at(-1)
  return roomiest === undefined ? 0 : room(roomiest)
}

/** Above the level of the slices what the chosen domains got is divided anew over all their children together. */
const togetherDown = (
  room: DomainRoom,
  { replicas, fit }: GangRequest,
  from: number,
  chosen: ReadonlyArray<DomainShare>,
): Chosen => {
  const { tree, slices } = room
  let shares = chosen
  let level = from
  for (; level < slices.level; level++) {
    const children = shares.flatMap(({ domain }) => numbers(tree.childrenOf(domain)))
    const order = inOrder(room, children, fit)
    const inUnits = inWholeSlices(room)
    shares = whole(divide(room, inUnits, replicas / slices.size, order, room.withLeader ? order : null, fit))
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
