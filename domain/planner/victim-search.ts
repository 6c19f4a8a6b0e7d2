import type { Fleet, Placement } from '../fleet/fleet.ts'
import { fitsNode } from '../fleet/placement.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { Shape } from '../fleet/shape.ts'
import { wholeGpu } from '../kernel/units.ts'
import type { Room } from './eviction-room.ts'
import type { VictimOption } from './victim-option.ts'

/** Running attempts that make room, and the place that they make it for. */
export interface VictimSet {
  readonly victims: ReadonlyArray<VictimOption>
  readonly placement: Placement
}

/** Where it is tried who makes room. */
export interface Trial {
  readonly fleet: Fleet
  /** Whether quota lets the request start, as far as victims are gone. */
  readonly allows: () => boolean
  /** What is anybody's of that, once it is given back. */
  readonly beside: (parts: Placement['parts']) => Placement['parts']
  /** Quota has the victim as gone, or as there again, as far as it makes room. */
  readonly count: (victim: VictimOption, gone: boolean) => void
}

/**
 * A set of victims, none of whom can be left out, after whose leaving the request fits: least work lost first. The fleet
 * and the room of each side are left as they were found.
 * @param options in the order in which they are taken
 * @param place   where it goes with these gone; null: it does not fit after all
 * @param spare   whole devices that are kept for others and stay free
 */
export const findVictims = (
  trial: Trial,
  shape: Shape,
  options: ReadonlyArray<VictimOption>,
  room: Room,
  place: () => Placement | null,
  spare = 0,
): VictimSet | null => {
  const { span, devices } = shape.request
  const { fleet } = trial
  const mayStart = () => (spare === 0 || fleet.wholeTotal - devices >= spare) && trial.allows()
  const chosen =
    span === 'node' || devices === 0
      ? leastOnOneNode(trial, shape, options, room, mayStart)
      : enough(trial, options, room, () => mayStart() && canPlace(fleet, shape))
  if (chosen === null) return null
  leave(trial, chosen)
  const placement = place()
  comeBack(trial, chosen)
  if (placement === null || !isTight(trial, chosen, placement, spare)) return null
  return { victims: chosen, placement }
}

/**
 * Takes options in order until it fits, then leaves out whoever is not needed, the dearest first. Where that comes to
 * nothing, because some who free nothing of use were taken first and their side has no more to give, it takes whom it
 * likes, and asks whether those who are needed in the end may leave together.
 */
const enough = (
  trial: Trial,
  options: ReadonlyArray<VictimOption>,
  room: Room,
  fits: () => boolean,
): ReadonlyArray<VictimOption> | null => {
  room.reset()
  const able = options.filter((option) => room.allows(option))
  const first = inOrder(trial, able, room, fits)
  if (first.chosen !== null || !first.refused) return first.chosen
  const { chosen } = inOrder(trial, able, null, fits)
  return chosen !== null && mayLeaveTogether(chosen, room) ? chosen : null
}

const mayLeaveTogether = (chosen: ReadonlyArray<VictimOption>, room: Room): boolean => {
  room.reset()
  // The largest last: a side may lack the last victim that it gives.
  return [...chosen]
    .sort((a, b) => a.rate - b.rate || (a.workload.id < b.workload.id ? -1 : 1))
    .every((option) => {
      if (!room.allows(option)) return false
      room.take(option)
      return true
    })
}

/** @param room null: anybody may leave */
const inOrder = (
  trial: Trial,
  options: ReadonlyArray<VictimOption>,
  room: Room | null,
  fits: () => boolean,
): { readonly chosen: ReadonlyArray<VictimOption> | null; readonly refused: boolean } => {
  const chosen = new Map<string, VictimOption>()
  let found = false
  let refused = false
  for (const option of options) {
    const before = chosen.get(option.workload.id)
    if (room?.allows(option, before) === false) {
      refused = true
      continue
    }
    if (before !== undefined) give(trial, before, -1)
    give(trial, option, 1)
    room?.take(option, before)
    // Who stops need not shrink.
    chosen.set(option.workload.id, option)
    found = fits()
    if (found) break
  }
  if (found) {
    leaveOut(trial, chosen, fits)
    shrinkInstead(trial, chosen, options, fits)
  }
  comeBack(trial, [...chosen.values()])
  return { chosen: found ? [...chosen.values()] : null, refused }
}

const leaveOut = (trial: Trial, chosen: Map<string, VictimOption>, fits: () => boolean): void => {
  for (const option of [...chosen.values()].reverse()) {
    if (chosen.size === 1) return
    give(trial, option, -1)
    if (fits()) chosen.delete(option.workload.id)
    else give(trial, option, 1)
  }
}

/** Whoever need not stop beside the others shrinks. */
const shrinkInstead = (
  trial: Trial,
  chosen: Map<string, VictimOption>,
  options: ReadonlyArray<VictimOption>,
  fits: () => boolean,
): void => {
  for (const shrink of options) {
    const { id } = shrink.workload
    const stop = chosen.get(id)
    if (shrink.keeps === null || stop === undefined || stop.keeps !== null) continue
    give(trial, stop, -1)
    give(trial, shrink, 1)
    if (fits()) {
      chosen.set(id, shrink)
      continue
    }
    give(trial, shrink, -1)
    give(trial, stop, 1)
  }
}

/** Of all nodes on which room can be made, the one where least work is lost. */
const leastOnOneNode = (
  trial: Trial,
  shape: Shape,
  options: ReadonlyArray<VictimOption>,
  room: Room,
  mayStart: () => boolean,
): ReadonlyArray<VictimOption> | null => {
  const byNode = new Map<number, VictimOption[]>()
  for (const option of options)
    for (const { node } of option.frees) {
      if (!trial.fleet.accepts(shape, node)) continue
      const there = byNode.get(node)
      if (there === undefined) byNode.set(node, [option])
      else there.push(option)
    }
  let best: ReadonlyArray<VictimOption> | null = null
  let least = Infinity
  for (const [node, there] of byNode) {
    const chosen = enough(trial, there, room, () => mayStart() && fitsNode(trial.fleet, shape, node))
    const loss = chosen?.reduce((sum, { ranked }) => sum + ranked, 0) ?? Infinity
    if (chosen === null || loss >= least) continue
    best = chosen
    least = loss
  }
  return best
}

/** What is freed beyond the need is smaller than the smallest victim. */
const isTight = (trial: Trial, victims: ReadonlyArray<VictimOption>, placement: Placement, spare: number): boolean => {
  const taken = new Map<string, number>()
  for (const { node, devices, milli } of placement.parts)
    for (const device of devices) taken.set(`${node} ${device}`, milli)
  let beyond = 0
  for (const { frees } of victims)
    for (const { node, devices, milli } of trial.beside(frees))
      for (const device of devices) {
        const key = `${node} ${device}`
        const used = Math.min(milli, taken.get(key) ?? 0)
        beyond += milli - used
        if (used > 0) taken.set(key, taken.get(key)! - used)
      }
  // What it takes of the free devices is made up for by freed ones, where so many have to stay free.
  let free = 0
  for (const left of taken.values()) free += left
  beyond -= Math.min(beyond, free, spare * wholeGpu)
  return beyond < Math.min(...victims.map(({ freedMilli }) => freedMilli))
}

/** Everybody's devices are free, as far as they leave them. */
export const leave = (trial: Trial, victims: ReadonlyArray<VictimOption>): void => {
  for (const victim of victims) give(trial, victim, 1)
}
export const comeBack = (trial: Trial, victims: ReadonlyArray<VictimOption>): void => {
  for (const victim of victims) give(trial, victim, -1)
}

const give = ({ beside, count, fleet }: Trial, victim: VictimOption, sign: 1 | -1): void => {
  const { frees, workload } = victim
  count(victim, sign > 0)
  for (const part of beside(frees)) {
    if (sign > 0) fleet.give(workload.shape, part)
    else fleet.take(workload.shape, part)
  }
}
