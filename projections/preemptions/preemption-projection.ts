import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent, PreemptionDecided } from '../../domain/planner/cell-event.ts'
import { budgetPathOf } from '../fairshare/budget-path.ts'
import type { RowSink } from '../rows/row-sink.ts'
import { preemptionRow, preemptionRows, type LivePreemption } from './preemption-row.ts'
import { victimRow, victimRows, type LiveVictim } from './victim-row.ts'

/** Rows of who made room for whom. It holds those whose preemptor has not started, or whose victims have not left. */
export class PreemptionProjection {
  private readonly cell: Cell
  private readonly sink: RowSink
  private readonly submissionOf: (workload: string) => number
  /** Whose preemptor has not started, by its name. */
  private readonly open = new Map<string, LivePreemption>()
  /** Who is to leave, by name; one that did not shrink when it was asked may be asked to stop. */
  private readonly victims = new Map<string, ReadonlyArray<LiveVictim>>()
  private now = 0

  constructor(cell: Cell, sink: RowSink, submissionOf: (workload: string) => number) {
    this.cell = cell
    this.sink = sink
    this.submissionOf = submissionOf
  }

  /** Before the cell takes an event: nothing changed up to there. */
  advance(at: number): void {
    for (const live of this.open.values()) live.keptMilliMs += live.keptMilli * (at - this.now)
    this.now = at
  }

  /** After the cell has taken it, and while what ended with it is still known by its submission. */
  follow(event: CellEvent, position: number): void {
    switch (event.type) {
      case 'PreemptionDecided':
        this.begin(event, position)
        break
      case 'WorkloadAdmitted':
        this.end(event.data.workload, 'started', position)
        break
      case 'PlaceReleased':
        this.end(event.data.workload, event.data.because, position)
        break
      case 'HoldRequested':
        this.end(event.data.workload, 'on-hold', position)
        break
      case 'LeaseShrunk':
      case 'AttemptEnded':
      case 'AttemptStopped':
        this.left(event, position)
        break
      case 'WorkloadCancelled':
      case 'WorkloadRefused':
        this.left(event, position)
        this.end(event.data.workload, event.type === 'WorkloadRefused' ? 'refused' : 'cancelled', position)
        break
      default:
        return
    }
    for (const [workload, live] of this.open) live.keptMilli = this.cell.places.get(workload)?.keptMilli ?? 0
  }

  private begin({ data }: PreemptionDecided, position: number): void {
    const { workload } = data
    const fresh = { startedAt: null, over: null, keptMilliMs: 0, keptMilli: 0 }
    const live = { position, at: this.now, decided: data, ...this.about(workload), ...fresh }
    this.open.set(workload, live)
    this.put(live, position)
    for (const victim of data.victims) {
      const leaving = { position, victim, ...this.about(victim.workload) }
      this.victims.set(victim.workload, [...(this.victims.get(victim.workload) ?? []), leaving])
      this.sink.put(victimRows, keyOf(leaving), victimRow(this.cell.name, leaving, null, position))
    }
  }

  private about(id: string): Pick<LiveVictim, 'submission' | 'class' | 'team' | 'budget'> {
    const { class: kind, team } = this.cell.workloads.get(id)!
    return { submission: this.submissionOf(id), class: kind, team, budget: budgetPathOf(this.cell, id) }
  }

  private end(workload: string, end: string, position: number): void {
    const live = this.open.get(workload)
    if (live === undefined) return
    const started = end === 'started'
    const before = live.over
    live.over ??= { at: this.now, end }
    if (started) live.startedAt = this.now
    if (started || before === null) this.put(live, position)
    if (started || !this.cell.workloads.has(workload)) this.open.delete(workload)
  }

  /** It holds no longer what it was to give back. */
  private left({ type, data }: { type: CellEvent['type']; data: { workload: string } }, position: number): void {
    const asked = this.victims.get(data.workload)
    if (asked === undefined) return
    const shrinks = type === 'LeaseShrunk'
    // One that failed while it was asked to leave still holds it: that it has stopped is said by what follows.
    if (!shrinks && this.cell.workloads.get(data.workload)?.run != null) return
    const left = shrinks ? asked.filter(({ victim }) => victim.keeps !== null) : asked
    for (const one of left) this.sink.put(victimRows, keyOf(one), victimRow(this.cell.name, one, this.now, position))
    const stay = asked.filter((one) => !left.includes(one))
    if (stay.length > 0) this.victims.set(data.workload, stay)
    else this.victims.delete(data.workload)
  }

  private put(live: LivePreemption, version: number): void {
    this.sink.put(preemptionRows, live.position, preemptionRow(this.cell.name, live, version))
  }
}

const keyOf = ({ position, victim }: LiveVictim): string => `${position} ${victim.workload}`
