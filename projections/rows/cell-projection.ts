import { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import { isInput, type CellDecision, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { cellRow, cellRows, policyRow, policyRows } from '../cells/cell-row.ts'
import { decisionRow, decisionRows } from '../decisions/decision-row.ts'
import { FleetLevel } from '../fragmentation/fleet-level.ts'
import { PreemptionProjection } from '../preemptions/preemption-projection.ts'
import { ShareProjection } from '../fairshare/share-projection.ts'
import { healthRow, healthRows, nodeRow, nodeRows } from '../nodes/node-row.ts'
import { ProjectionScores } from '../workloads/projection-scores.ts'
import { WorkloadProjection } from '../workloads/workload-projection.ts'
import type { RowSink } from './row-sink.ts'

/** Turns the events of one cell into rows. It folds the cell beside, to know how things stand after each event. */
export class CellProjection {
  private readonly cell: Cell
  private readonly sink: RowSink
  private readonly level: FleetLevel
  private readonly workloads: WorkloadProjection
  private readonly shares: ShareProjection
  private readonly preemptions: PreemptionProjection
  private readonly scores: ProjectionScores
  private readonly registeredAt: number[] = []
  private firstAt = -1
  private last: StoredEvent | null = null

  constructor(name: string, sink: RowSink) {
    this.cell = new Cell(name)
    this.sink = sink
    this.level = new FleetLevel(this.cell)
    this.workloads = new WorkloadProjection(this.cell, this.level, sink)
    this.shares = new ShareProjection(this.cell, sink)
    const submissionOf = (workload: string): number => this.workloads.submissionOf(workload)
    this.preemptions = new PreemptionProjection(this.cell, sink, submissionOf)
    this.scores = new ProjectionScores(this.cell, sink, submissionOf)
  }

  /** @throws broken invariant on an event that does not follow from those before it */
  follow(stored: StoredEvent): void {
    const { cell, level, sink } = this
    const event = inTime(stored.message as unknown as CellEvent, cell)
    if (event.at > cell.now) level.settle(sink)
    const before = this.nodesOf(event)
    const at = Math.max(cell.now, event.at)
    this.shares.advance(at, stored.position)
    this.preemptions.advance(at)
    evolve(cell, event)
    this.last = stored
    if (this.firstAt < 0) this.firstAt = event.at
    for (const node of before) level.touch(node, stored.position)
    for (const node of this.nodesOf(event)) level.touch(node, stored.position)
    this.shares.follow(event)
    this.workloads.follow(event, stored.position)
    this.preemptions.follow(event, stored.position)
    this.scores.follow(event, stored.position)
    if (event.type === 'WorkloadSubmitted' || event.type === 'PolicyActivated') level.followMix(sink, stored.position)
    this.putOwn(stored, event)
  }

  /** Puts what changed and is still to be put: from here on the rows say all that was told. */
  settle(): void {
    this.level.settle(this.sink)
    if (this.last === null) return
    this.sink.put(cellRows, this.cell.name, cellRow(this.cell, this.firstAt, this.last))
    this.last = null
  }

  private putOwn(stored: StoredEvent, event: CellEvent): void {
    const { cell, sink } = this
    const { position } = stored
    if (!isInput(event)) sink.put(decisionRows, position, decisionRow(stored, event satisfies CellDecision))
    if (event.type === 'PolicyActivated') sink.put(policyRows, position, policyRow(cell.name, event, position))
    if (event.type === 'NodeHealthChanged') sink.put(healthRows, position, healthRow(cell.name, event, position))
    if (event.type !== 'NodeRegistered' && event.type !== 'NodeHealthChanged') return
    const node = cell.fleet.node(event.data.node)!
    const registeredAt = (this.registeredAt[node] ??= event.at)
    sink.put(nodeRows, `${cell.name} ${node}`, nodeRow(cell.name, cell.fleet, node, registeredAt, position))
  }

  /** Nodes whose level an event may change, as far as the cell knows them now. */
  private nodesOf(event: CellEvent): ReadonlyArray<number> {
    switch (event.type) {
      case 'NodeRegistered':
      case 'NodeHealthChanged': {
        const node = this.cell.fleet.node(event.data.node)
        return node === undefined ? [] : [node]
      }
      case 'AttemptEnded':
      case 'WorkloadAdmitted':
      case 'AttemptStopped':
      case 'LeaseShrunk':
      case 'WorkloadCancelled':
      case 'WorkloadRefused':
      case 'PreemptionDecided':
      case 'PlaceReleased':
      case 'HoldRequested': {
        const { workload } = event.data
        const parts = [this.cell.workloads.get(workload)?.run?.parts, this.cell.places.get(workload)?.parts]
        return parts.flatMap((some) => some?.map(({ node }) => node) ?? [])
      }
      default:
        return []
    }
  }
}

/** What is told late changes nothing before it was told; but for how long somebody has waited. */
const inTime = (event: CellEvent, { now }: Cell): CellEvent =>
  event.at < now && event.type !== 'WorkloadSubmitted' ? { ...event, at: now } : event
