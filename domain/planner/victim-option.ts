import type { Placement, PlacementPart } from '../fleet/fleet.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { Books } from './books.ts'
import { heldMilli } from './tallies.ts'
import type { Run, Workload } from './workload.ts'

/** One way in which a running attempt makes room: it stops, or it shrinks to what it declared to be enough. */
export interface VictimOption {
  readonly workload: Workload
  readonly run: Run
  /** What it gives back. */
  readonly frees: Placement['parts']
  /** What it keeps; null: nothing, it stops. */
  readonly keeps: Placement['parts'] | null
  /** Milli-units that it gives back. */
  readonly rate: number
  /** Thousandths of devices that it gives back. */
  readonly freedMilli: number
  /** Work since the last observed checkpoint, milli-unit ms. */
  readonly loss: number
  /** The same, but that silence makes nothing safer: what never reported a checkpoint is taken for like the others. */
  readonly ranked: number
}

/** Least work lost first, then youngest, then by id; who only shrinks loses nothing. */
export const byLoss = (a: VictimOption, b: VictimOption): number =>
  a.ranked - b.ranked || b.run.startedAt - a.run.startedAt || (a.workload.id < b.workload.id ? -1 : 1)

/**
 * Ways in which these make room, shrinking before stopping.
 * @param shrinking others who shrink already, with what they keep: they could shrink further before anybody stops
 */
export const optionsOf = (
  books: Books,
  victims: ReadonlyArray<Workload>,
  shrinking: ReadonlyMap<Workload, Placement['parts']>,
  at: EpochMs,
): ReadonlyArray<VictimOption> => {
  const median = medianOf(victims.flatMap(({ run }) => (run!.checkpointAt === null ? [] : [run!.checkpointAt])))
  const stops = victims.map((workload) => stopOption(workload, at, median)).sort(byLoss)
  const shrinks = victims.flatMap((workload) => shrinkOption(books, workload) ?? []).sort(byLoss)
  const further = [...shrinking].flatMap(([workload, keeps]) => shrinkOption(books, workload, keeps) ?? []).sort(byLoss)
  return [...shrinks, ...further, ...stops]
}

const stopOption = (workload: Workload, at: EpochMs, median: number | null): VictimOption => {
  const run = workload.run!
  const { rate } = workload.account!
  const startedAt = run.confirmedAt ?? run.startedAt
  const savedAt = Math.max(startedAt, run.checkpointAt ?? 0)
  const takenAt = run.checkpointAt === null ? Math.max(startedAt, median ?? 0) : savedAt
  return {
    workload,
    run,
    frees: run.parts,
    keeps: null,
    rate,
    freedMilli: heldMilli(run.parts),
    loss: rate * (at - savedAt),
    ranked: rate * (at - Math.min(at, takenAt)),
  }
}

/** Whole replicas beyond those that it declared to be enough; null: there are none, or it was asked already. */
const shrinkOption = (books: Books, workload: Workload, parts = workload.run!.parts): VictimOption | null => {
  const run = workload.run!
  const { elasticity } = workload.terms
  const { devices: wanted } = workload.shape.request
  if (elasticity === null || run.tried.includes('shrink')) return null
  const each = wanted / elasticity.maxReplicas
  const held = parts.reduce((sum, { devices }) => sum + devices.length, 0)
  const spare = held - each * elasticity.minReplicas
  return Number.isInteger(each) && spare > 0 ? shrunkBy(books, workload, spare, parts) : null
}

/** It gives back so many devices of these, the last first. */
export const shrunkBy = (
  books: Books,
  workload: Workload,
  count: number,
  parts = workload.run!.parts,
): VictimOption => {
  const run = workload.run!
  const keeps: PlacementPart[] = []
  const frees: PlacementPart[] = []
  let left = count
  for (const part of parts.toReversed()) {
    const gone = Math.min(left, part.devices.length)
    left -= gone
    const cut = part.devices.length - gone
    if (cut > 0) keeps.unshift({ ...part, devices: part.devices.slice(0, cut) })
    if (gone > 0) frees.push({ ...part, devices: part.devices.slice(cut) })
  }
  const held = parts === run.parts ? workload.account!.rate : books.rateOf(workload.shape, parts)
  const rate = held - books.rateOf(workload.shape, keeps)
  return { workload, run, frees, keeps, rate, freedMilli: heldMilli(frees), loss: 0, ranked: 0 }
}

const medianOf = (values: number[]): number | null => {
  if (values.length === 0) return null
  values.sort((a, b) => a - b)
  return values[values.length >> 1]!
}
