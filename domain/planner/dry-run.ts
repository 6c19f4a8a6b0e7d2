import { either as E } from 'fp-ts'
import type { EpochMs } from '../kernel/units.ts'
import type { Cell } from './cell.ts'
import { evolve } from './evolve.ts'
import {
  workloadOf,
  type WorkloadAdmitted,
  type WorkloadHeld,
  type WorkloadRefused,
  type WorkloadSubmitted,
} from './cell-event.ts'
import { fork } from './cell-snapshot.ts'
import { decide, type CellRejection } from './decide.ts'
import { projectStarts } from './projection.ts'

/** What would become of a submission now. */
export type DryRun =
  | { readonly outcome: 'starts'; readonly decision: WorkloadAdmitted; readonly startAt: EpochMs }
  | {
      readonly outcome: 'waits'
      readonly decision: WorkloadHeld | null
      readonly position: number
      readonly startAt: EpochMs | null
    }
  | { readonly outcome: 'refused'; readonly decision: WorkloadRefused }
  | { readonly outcome: 'not taken'; readonly rejection: CellRejection }

/** Decides about a submission on a fork of the cell, by the same code as always; the cell does not see it. */
export const dryRun = (cell: Cell, submission: WorkloadSubmitted['data']): DryRun => {
  const forked = fork(cell)
  const at = cell.now
  const input: WorkloadSubmitted = { type: 'WorkloadSubmitted', at, data: submission }
  const submitted = decide(input, forked)
  if (E.isLeft(submitted)) return { outcome: 'not taken', rejection: submitted.left }
  const refused = submitted.right.find((decision) => decision.type === 'WorkloadRefused')
  if (refused !== undefined) return { outcome: 'refused', decision: refused }
  evolve(forked, input)
  const workload = forked.workloads.get(submission.workload)
  const position = workload === undefined ? 1 : workload.queue.ahead(workload) + 1
  const ticked = decide({ type: 'Ticked', at, data: {} }, forked)
  const own = E.isLeft(ticked) ? [] : ticked.right.filter((one) => workloadOf(one) === submission.workload)
  const admitted = own.find((decision) => decision.type === 'WorkloadAdmitted')
  if (admitted !== undefined) return { outcome: 'starts', decision: admitted, startAt: at }
  const startAt = projectStarts(forked, submission.workload).starts.get(submission.workload) ?? null
  return {
    outcome: 'waits',
    decision: own.find((decision) => decision.type === 'WorkloadHeld') ?? null,
    position,
    startAt,
  }
}
