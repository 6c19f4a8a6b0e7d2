import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent, WorkloadHeld } from '../../domain/planner/cell-event.ts'
import type { RowSink } from '../rows/row-sink.ts'
import { projectionRow, projectionRows, type LiveProjection } from './projection-row.ts'

/** Rows of what was told of starts, held against when they came. It holds what has been told and waits. */
export class ProjectionScores {
  private readonly cell: Cell
  private readonly sink: RowSink
  private readonly submissionOf: (workload: string) => number
  private readonly open = new Map<string, LiveProjection>()

  constructor(cell: Cell, sink: RowSink, submissionOf: (workload: string) => number) {
    this.cell = cell
    this.sink = sink
    this.submissionOf = submissionOf
  }

  /** Takes an event that the cell has taken already. */
  follow(event: CellEvent, position: number): void {
    switch (event.type) {
      case 'WorkloadHeld':
        this.tell(event, position)
        return
      case 'WorkloadAdmitted': {
        const live = this.open.get(event.data.workload)
        if (live !== undefined) this.end(live, event.at, outcomeOf(live, event.at), position)
        return
      }
      case 'WorkloadCancelled':
      case 'WorkloadRefused': {
        const live = this.open.get(event.data.workload)
        if (live !== undefined) this.end(live, event.at, 'withdrawn', position)
      }
    }
  }

  private tell({ at, data }: WorkloadHeld, position: number): void {
    const { workload, expectedWaitMs = null, projectedFrom = null, projectedStartAt, projectedTo = null } = data
    if (this.open.has(workload) || (projectedStartAt === null && projectedTo === null)) return
    const { class: kind, queue, team } = this.cell.workloads.get(workload)!
    const live: LiveProjection = {
      position,
      workload,
      submission: this.submissionOf(workload),
      class: kind,
      queue: queue.name,
      team,
      at,
      expectedWaitMs,
      projectedAt: projectedStartAt,
      from: projectedFrom,
      to: projectedTo,
    }
    this.open.set(workload, live)
    this.sink.put(projectionRows, position, projectionRow(this.cell.name, live, null, position))
  }

  private end(live: LiveProjection, at: number, outcome: string, version: number): void {
    this.open.delete(live.workload)
    this.sink.put(projectionRows, live.position, projectionRow(this.cell.name, live, { at, outcome }, version))
  }
}

/** Without a band, what was told is the latest start. */
const outcomeOf = ({ from, to, projectedAt }: LiveProjection, at: number): 'before' | 'within' | 'behind' => {
  if (from !== null && at < from) return 'before'
  return at > (to ?? projectedAt ?? Infinity) ? 'behind' : 'within'
}
