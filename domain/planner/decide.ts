import { either as E } from 'fp-ts'
import { canonicalJson, type Json } from '../kernel/canonical-json.ts'
import type { Decider } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { topologyOf } from '../topology/fleet-topology.ts'
import { cancel, conclude, withdrawn, evicted, leaveNode, withdrawAdvice } from './attempt-stop.ts'
import { Cell } from './cell.ts'
import { evolve } from './evolve.ts'
import type {
  CellDecision,
  CellEvent,
  CellInput,
  NodeHealthChanged,
  NodeRegistered,
  PolicyActivated,
  WorkloadRefused,
  WorkloadSubmitted,
} from './cell-event.ts'
import { BudgetPass } from './budget-pass.ts'
import { editionFirst } from './edition.ts'
import { KueuePass } from './kueue-pass.ts'
import { Pass } from './pass.ts'
import { runningAttempt } from './running-attempt.ts'
import { endedByEviction } from './workload.ts'

/** Why an input is not taken. `Repeated` says that the cell has it already: nothing is wrong, and nothing is recorded. */
export type CellRejection =
  | { readonly type: 'Repeated' }
  | { readonly type: 'NodeDiffers' | 'UnknownNode'; readonly node: string }
  | { readonly type: 'UnknownDevice'; readonly node: string; readonly device: number; readonly devices: number }
  | { readonly type: 'DuplicateWorkload' | 'UnknownWorkload' | 'NotRunning'; readonly workload: string }
  | { readonly type: 'UnknownCommand'; readonly command: string }
  | { readonly type: 'WrongAttempt'; readonly workload: string; readonly attempt: number; readonly running: number }
  | { readonly type: 'TimeWentBack'; readonly at: EpochMs; readonly now: EpochMs }

/** Decisions that follow from an input; the input itself is recorded before them. The cell is left as it was. */
export const decide = (input: CellInput, cell: Cell): E.Either<CellRejection, ReadonlyArray<CellDecision>> => {
  switch (input.type) {
    case 'NodeRegistered':
      return registerNode(input, cell)
    case 'NodeHealthChanged':
      return changeHealth(input, cell)
    case 'PolicyActivated':
      return isInForce(input, cell) ? repeated : E.right(withdrawAdvice(input, cell))
    case 'WorkloadSubmitted':
      return submit(input, cell)
    case 'AttemptEnded': {
      const running = runningAttempt(input.data, cell)
      if (E.isLeft(running)) return running
      return endedByEviction(running.right, input.data.outcome) ? E.right([evicted(running.right, input.at)]) : nothing
    }
    case 'CancelRequested':
      return cancel(input, cell)
    case 'CommandConcluded':
      return conclude(input, cell)
    case 'HoldRequested':
    case 'ReleaseRequested': {
      const workload = cell.workloads.get(input.data.workload)
      if (workload === undefined) return E.left({ type: 'UnknownWorkload', workload: input.data.workload })
      return workload.onHold === (input.type === 'HoldRequested')
        ? repeated
        : E.right(withdrawn(cell, workload, input.at))
    }
    case 'CheckpointCommitted':
    case 'ProgressObserved': {
      const running = runningAttempt(input.data, cell)
      return E.isLeft(running) ? running : nothing
    }
    case 'DrillConcluded':
      return nothing
    case 'Ticked':
      return input.at < cell.now ? E.left({ type: 'TimeWentBack', at: input.at, now: cell.now }) : tick(input.at, cell)
  }
}

/** The cell's decider: `initial` is an empty cell of this name. */
export const cellDecider = (name: string): Decider<CellInput, Cell, CellEvent, CellRejection> => ({
  initial: () => new Cell(name),
  decide,
  evolve,
})

/** The same policy again is one more only where it brings newer rules. */
const isInForce = ({ data: { edition = editionFirst, hash } }: PolicyActivated, cell: Cell): boolean =>
  hash === cell.policyHash && edition <= cell.edition

const nothing = E.right([])
const repeated = E.left({ type: 'Repeated' } as const)

const tick = (at: EpochMs, cell: Cell): E.Either<CellRejection, ReadonlyArray<CellDecision>> => {
  if (!cell.decides) return nothing
  const pass =
    cell.kueue !== null
      ? new KueuePass(cell, at, cell.kueue)
      : cell.books === null
        ? new Pass(cell, at)
        : new BudgetPass(cell, at)
  try {
    return E.right(pass.run())
  } finally {
    pass.undo()
  }
}

const registerNode = (
  { data }: NodeRegistered,
  { fleet }: Cell,
): E.Either<CellRejection, ReadonlyArray<CellDecision>> => {
  const node = fleet.node(data.node)
  if (node === undefined) return nothing
  const same = canonicalJson(data) === canonicalJson(fleet.nodes[node]!)
  return same ? repeated : E.left({ type: 'NodeDiffers', node: data.node })
}

const changeHealth = (input: NodeHealthChanged, cell: Cell): E.Either<CellRejection, ReadonlyArray<CellDecision>> => {
  const { data } = input
  const { fleet } = cell
  const node = fleet.node(data.node)
  if (node === undefined) return E.left({ type: 'UnknownNode', node: data.node })
  const { devices } = fleet.nodes[node]!
  const { device, health } = data
  if (device !== null && device >= devices) return E.left({ type: 'UnknownDevice', node: data.node, device, devices })
  return fleet.healthOf(node, device) === health ? repeated : E.right(leaveNode(input, cell))
}

/** What the empty fleet could not hold is refused at once, and so stands in nobody's way. */
const submit = ({ at, data }: WorkloadSubmitted, cell: Cell): E.Either<CellRejection, ReadonlyArray<CellDecision>> => {
  const known = cell.workloads.get(data.workload)
  if (known !== undefined) {
    const same =
      known.shape === cell.shapes.intern(data.request) &&
      known.queue.name === data.queue &&
      known.class === data.class &&
      known.team === data.team &&
      known.estimateMs === data.estimateMs &&
      canonicalJson(known.terms as unknown as Json) === canonicalJson(data.terms as unknown as Json)
    return same ? repeated : E.left({ type: 'DuplicateWorkload', workload: data.workload })
  }
  const shape = cell.shapes.intern(data.request)
  const { holds, hasModel, largestMilli } = cell.verdict(shape)
  if (holds) return nothing
  const isOfLevels = shape.request.topology === undefined || topologyOf(cell.fleet).faultOf(shape) === null
  const refused: WorkloadRefused = {
    type: 'WorkloadRefused',
    at,
    data: {
      code: !isOfLevels ? 'Misconfigured' : hasModel ? 'ExceedsFleet' : 'NoMatchingAccelerator',
      largestMilli,
      needDevices: shape.request.devices,
      needMilli: shape.needMilli,
      rule: isOfLevels ? 'fleet' : 'spec.topology.levels',
      workload: data.workload,
    },
  }
  return E.right([refused])
}
