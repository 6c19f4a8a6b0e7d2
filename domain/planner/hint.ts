import type { DurationMs } from '../kernel/units.ts'
import { withRaised, type RaisedLimit } from '../policy/raised-limits.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type { Cell } from './cell.ts'
import type { CellInput, LeasePart } from './cell-event.ts'
import type { Workload } from './workload.ts'

/** What would let a workload start at this instant, by the planner itself. Amounts are what it would ask for. */
export type Hint = {
  /** Where it would start. */
  readonly nodes: ReadonlyArray<string>
} & (
  | { readonly change: 'fewer-devices'; readonly devices: number }
  /** Of each device, in thousandths, or in MiB. */
  | { readonly change: 'smaller-share'; readonly milli: number }
  | { readonly change: 'less-memory'; readonly memoryMib: number }
  | { readonly change: 'fewer-cores'; readonly cpuMilli: number }
  | { readonly change: 'less-host-memory'; readonly hostMemoryMib: number }
  /** Models that it would have to accept beside its own. */
  | { readonly change: 'accelerator'; readonly models: ReadonlyArray<string> }
  /** It says that it runs no longer than this. */
  | { readonly change: 'shorter'; readonly estimateMs: number }
  /** It lets itself be evicted; `drill`: and its like were seen to go on from a checkpoint. */
  | { readonly change: 'preemptible'; readonly drill: boolean }
  /** Caps or quotas of the policy. */
  | { readonly change: 'limits'; readonly limits: ReadonlyArray<RaisedLimit> }
  /** These run. */
  | { readonly change: 'ends'; readonly workloads: ReadonlyArray<string> }
)
export type HintedChange = Hint extends infer H ? (H extends Hint ? Omit<H, 'nodes'> : never) : never

/** What it would ask for instead. */
export interface Asking {
  readonly request?: Partial<PlacementRequest>
  readonly estimateMs?: DurationMs
  readonly tolerated?: boolean
}

/** Null: it asks for the same. */
export const askingOf = ({ shape }: Workload, hint: HintedChange): Asking | null => {
  switch (hint.change) {
    case 'fewer-devices':
      return { request: { devices: hint.devices } }
    case 'smaller-share':
      return { request: { milli: hint.milli as PlacementRequest['milli'] } }
    case 'less-memory':
      return { request: { memoryMib: hint.memoryMib as PlacementRequest['memoryMib'] } }
    case 'fewer-cores':
      return { request: { cpuMilli: hint.cpuMilli as PlacementRequest['cpuMilli'] } }
    case 'less-host-memory':
      return { request: { hostMemoryMib: hint.hostMemoryMib as PlacementRequest['hostMemoryMib'] } }
    case 'accelerator':
      return { request: { models: [...(shape.request.models ?? []), ...hint.models].sort() } }
    case 'shorter':
      return { estimateMs: hint.estimateMs as DurationMs }
    case 'preemptible':
      return { tolerated: true }
    case 'limits':
    case 'ends':
      return null
  }
}

/** What one would do to follow a hint. What asks for something else is submitted anew. */
export const inputsOf = (cell: Cell, workload: Workload, hint: HintedChange): ReadonlyArray<CellInput> => {
  const { now: at } = cell
  switch (hint.change) {
    case 'preemptible':
      return [
        ...(workload.terms.preemption.tolerated ? [] : anew(cell, workload, { tolerated: true })),
        ...(hint.drill ? [passedDrill(cell, workload)] : []),
      ]
    case 'limits': {
      const document = withRaised(cell.policy!, hint.limits)
      const { edition, policyHash } = cell
      return [{ type: 'PolicyActivated', at, data: { document, edition, hash: `${policyHash} raised` } }]
    }
    case 'ends':
      return hint.workloads.map((id) => {
        const { attempt } = cell.workloads.get(id)!
        return { type: 'AttemptEnded', at, data: { attempt, outcome: 'succeeded', workload: id } }
      })
    default:
      return anew(cell, workload, askingOf(workload, hint)!)
  }
}

export const nodesOf = (lease: ReadonlyArray<LeasePart>): ReadonlyArray<string> => lease.map(({ node }) => node)

const anew = (
  { now: at }: Cell,
  workload: Workload,
  { request, estimateMs, tolerated = workload.terms.preemption.tolerated }: Asking,
): ReadonlyArray<CellInput> => {
  const { class: kind, id, queue, shape, team, terms } = workload
  const data = {
    class: kind,
    estimateMs: estimateMs ?? workload.estimateMs,
    queue: queue.name,
    request: { ...shape.request, ...request },
    team,
    terms: { ...terms, preemption: { ...terms.preemption, tolerated } },
    workload: id,
  }
  return [
    { type: 'CancelRequested', at, data: { actor: 'what-if', reason: null, workload: id } },
    { type: 'WorkloadSubmitted', at, data },
  ]
}

const passedDrill = ({ now: at }: Cell, { team, terms: { modelFamily } }: Workload): CellInput => ({
  type: 'DrillConcluded',
  at,
  data: { modelFamily, outcome: 'passed', team },
})
