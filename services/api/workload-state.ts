import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { Run, Workload } from '../../domain/planner/workload.ts'
import { eventText } from '../../projections/explain/event-text.ts'
import { instantText, leaseText } from '../../projections/explain/wording.ts'
import type { WorkloadState } from './desk.ts'

export type Ended = WorkloadState & {
  readonly state: 'succeeded' | 'failed' | 'refused' | 'cancelled' | 'not-started'
}

/** How an event ends a workload, unless a requeueing follows it: `requeued`; null: it ends none. */
export const endBy = (event: CellEvent): Ended | { readonly state: 'requeued'; readonly workload: string } | null => {
  switch (event.type) {
    case 'AttemptEnded': {
      const { attempt, outcome, workload } = event.data
      return ended(event, workload, attempt, outcome, `${outcome} ${instantText(event.at)}`)
    }
    case 'WorkloadRefused': {
      const { code, workload } = event.data
      return { ...ended(event, workload, 0, 'refused', `refused ${instantText(event.at)}: ${eventText(event)}`), code }
    }
    case 'WorkloadCancelled':
      return ended(event, event.data.workload, 0, 'cancelled', `cancelled ${instantText(event.at)}`)
    case 'AttemptStopped': {
      const { attempt, outcome, requeued, workload } = event.data
      if (requeued) return { state: 'requeued', workload }
      const state = outcome === 'cancelled' || outcome === 'not-started' ? outcome : 'failed'
      const what = outcome === 'not-started' ? 'given up, as it did not start,' : outcome
      return ended(event, workload, attempt, state, `${what} ${instantText(event.at)}`)
    }
    default:
      return null
  }
}

const ended = ({ at }: CellEvent, workload: string, attempt: number, state: Ended['state'], text: string): Ended => ({
  workload,
  state,
  code: null,
  attempt,
  since: at,
  text,
})

/**
 * Where one that the cell has has got to.
 * @param changed when it was requeued, or its start was confirmed; undefined: not since the cell was followed
 */
export const stateIn = (cell: Cell, workload: Workload, changed: EpochMs | undefined): WorkloadState => {
  const { attempt, id, queue, run, submittedAt } = workload
  const common = { workload: id, attempt, code: null }
  if (run === null) {
    // It is so at once, and told by the next pass.
    const code = workload.onHold ? 'OnHold' : (workload.hold?.code ?? 'PendingEvaluation')
    const place = workload.onHold ? 'on hold' : `position ${queue.ahead(workload) + 1}`
    const text = `waits in queue ${queue.name}, ${place}: ${code}`
    return { ...common, state: 'waiting', code, since: changed ?? submittedAt, text }
  }
  const place = run.parts.map((part) => leaseText(cell.fleet.partNamed(part))).join('; ')
  const { open } = run
  if (open !== null && (open.verb === 'cancel' || open.verb === 'evict'))
    return { ...common, state: 'stopping', since: open.issuedAt, text: `asked to stop (${open.because}) ${place}` }
  if (run.commanded && !run.confirmed)
    return { ...common, state: 'starting', since: run.startedAt, text: `asked to start ${place}` }
  const text = run.commanded
    ? `runs ${place}, attempt ${attempt}`
    : `would run ${place}; no adapter was asked to start it`
  return { ...common, state: 'running', since: runningSince(run, changed), text }
}

const runningSince = ({ startedAt }: Run, changed: EpochMs | undefined): EpochMs =>
  changed !== undefined && changed > startedAt ? changed : startedAt
