import { either as E } from 'fp-ts'
import { wholeGpu } from '../kernel/units.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type { Cell } from './cell.ts'
import { fromSnapshot, takeSnapshot, type CellSnapshot } from './cell-snapshot.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import { largestMilliFor } from './held.ts'
import type { CellInput, LeasePart } from './cell-event.ts'
import type { Workload } from './workload.ts'

/** What would let a workload start at this instant, by the planner itself. */
export type Hint = {
  /** Where it would start. */
  readonly nodes: ReadonlyArray<string>
} & (
  | { readonly change: 'fewer-devices'; readonly devices: number }
  | { readonly change: 'any-accelerator' }
  /** These run, and are expected to end next. */
  | { readonly change: 'ends'; readonly workloads: ReadonlyArray<string> }
)

/** Each hint is decided on a copy of the cell: larger ones are not copied for the sake of one question. */
const workloadsMax = 500
const probesMax = 6
const endsMax = 8

/** The smallest changes that start it now, each decided by the planner; none where that is too much work, or nothing helps. */
export const hintsOf = (cell: Cell, { id, onHold, run }: Workload): ReadonlyArray<Hint> => {
  if (run !== null || onHold || !cell.decides || cell.workloads.size > workloadsMax) return []
  const snapshot = takeSnapshot(cell)
  const { shape } = cell.workloads.get(id)!
  const hints = [fewerDevices(cell, snapshot, id), anyAccelerator(snapshot, id, shape.request), ends(snapshot, id)]
  return hints.filter((hint) => hint !== null)
}

/** The cell in which the workload asks for something else. */
export const askingFor = (snapshot: CellSnapshot, id: string, change: Partial<PlacementRequest>): Cell =>
  fromSnapshot({
    ...snapshot,
    workloads: snapshot.workloads.map((one) =>
      one.id === id ? { ...one, hold: null, request: { ...one.request, ...change } } : one,
    ),
  })

/** The most devices with which it starts; of more than one node only where its span allows that. */
const fewerDevices = (cell: Cell, snapshot: CellSnapshot, id: string): Hint | null => {
  const { shape, terms } = cell.workloads.get(id)!
  const { devices } = shape.request
  let low = terms.elasticity?.minReplicas ?? 1
  let high = Math.min(devices - 1, Math.floor(largestMilliFor(cell.fleet, shape) / wholeGpu))
  let best: Hint | null = null
  for (let probe = 0; probe < probesMax && low <= high; probe++) {
    const middle = probe === 0 ? high : (low + high) >> 1
    const lease = startsNow(askingFor(snapshot, id, { devices: middle }), id)
    if (lease === null) high = middle - 1
    else {
      best = { change: 'fewer-devices', devices: middle, nodes: nodesOf(lease) }
      low = middle + 1
    }
  }
  return best
}

const anyAccelerator = (snapshot: CellSnapshot, id: string, { models }: PlacementRequest): Hint | null => {
  if (models === null) return null
  const lease = startsNow(askingFor(snapshot, id, { models: null }), id)
  return lease === null ? null : { change: 'any-accelerator', nodes: nodesOf(lease) }
}

/** The next to end, one after another, until it starts. */
const ends = (snapshot: CellSnapshot, id: string): Hint | null => {
  const cell = fromSnapshot(snapshot)
  const workloads: string[] = []
  for (const next of [...cell.ends].slice(0, endsMax)) {
    workloads.push(next.id)
    const data = { attempt: next.attempt, outcome: 'succeeded', workload: next.id } as const
    tell(cell, { type: 'AttemptEnded', at: cell.now, data })
    const lease = startsNow(cell, id)
    if (lease !== null) return { change: 'ends', workloads, nodes: nodesOf(lease) }
  }
  return null
}

/** Whether the next pass starts it, and where. */
export const startsNow = (cell: Cell, id: string): ReadonlyArray<LeasePart> | null => {
  for (const decision of tell(cell, { type: 'Ticked', at: cell.now, data: {} }))
    if (decision.type === 'WorkloadAdmitted' && decision.data.workload === id) return decision.data.lease
  return null
}

const tell = (cell: Cell, input: CellInput) => {
  const decided = decide(input, cell)
  if (E.isLeft(decided)) return []
  evolve(cell, input)
  for (const decision of decided.right) evolve(cell, decision)
  return decided.right
}

const nodesOf = (lease: ReadonlyArray<LeasePart>): ReadonlyArray<string> => lease.map(({ node }) => node)
