import { either as E } from 'fp-ts'
import { fromSnapshot, takeSnapshot, type CellSnapshot } from './cell-snapshot.ts'
import type { Cell } from './cell.ts'
import type { CellInput, LeasePart, WorkloadAdmitted } from './cell-event.ts'
import { contendersOf, leastContenders, type Contenders } from './contenders.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import type { Workload } from './workload.ts'

/** How much work the answer to one question may be. */
export interface Effort {
  /** Of each line so many are copied. */
  readonly perLineMax: number
  /** Where more than this run, and are first of their kind, nothing is copied: one copy alone would take seconds. */
  readonly contendersMax: number
  /** Workloads copied, and lines looked at, in all, but for what has to be tried: this many take about a second. */
  readonly workMax: number
}
export const usualEffort: Effort = { contendersMax: 100_000, perLineMax: 8, workMax: 150_000 }

/** To look at a line in a pass takes as long as to copy so many workloads. */
const copiedPerLine = 3

/** Copies of a cell on which the planner decides what would come of a change for one workload that waits. */
export class WhatIf {
  private readonly cell: Cell
  private readonly workload: Workload
  private readonly effort: Effort
  private readonly trials: Trial[] = []
  private contenders: Contenders | null = null
  private snapshot: CellSnapshot | null = null

  constructor(cell: Cell, workload: Workload, effort = usualEffort) {
    this.cell = cell
    this.workload = workload
    this.effort = effort
  }

  /** Whether there would be too many to copy. */
  get isTooLarge(): boolean {
    return leastContenders(this.cell) > this.effort.contendersMax
  }

  /** Whether something more may be tried that need not be. */
  get affordsMore(): boolean {
    const { contenders, trials } = this
    if (contenders === null) return true
    const passes = trials.reduce((sum, trial) => sum + trial.passes, 0)
    const { lines, workloads } = contenders
    return trials.length * workloads.size + passes * lines * copiedPerLine < this.effort.workMax
  }

  /** So many of its line stand before it that it starts behind one of whom copies know nobody, or not at all. */
  get isOutnumbered(): boolean {
    return this.workload.line!.countBefore(this.workload) > this.effort.perLineMax
  }

  /** The cell as it is: the last copy, as long as it has been told nothing. */
  copy(): Trial {
    const last = this.trials.at(-1)
    if (last?.isAsItWas === true) return last
    const { workloads, rims } = (this.contenders ??= contendersOf(this.cell, this.workload, this.effort.perLineMax))
    this.snapshot ??= takeSnapshot(this.cell, workloads)
    const trial = new Trial(fromSnapshot(this.snapshot), this.workload.id, rims)
    this.trials.push(trial)
    return trial
  }

  /** Where it starts at once when this has happened; null: it does not, or nobody knows. */
  startsAfter(inputs: ReadonlyArray<CellInput>): ReadonlyArray<LeasePart> | null {
    const trial = this.copy()
    return trial.tell(...inputs) ? trial.starts() : null
  }
}

/** One copy, which goes its own way. */
export class Trial {
  readonly cell: Cell
  isAsItWas = true
  passes = 0
  private readonly id: string
  private readonly rims: ReadonlySet<string>

  constructor(cell: Cell, id: string, rims: ReadonlySet<string>) {
    this.cell = cell
    this.id = id
    this.rims = rims
  }

  /** Whether all of it was taken. */
  tell(...inputs: ReadonlyArray<CellInput>): boolean {
    this.isAsItWas = false
    for (const input of inputs) {
      const decided = decide(input, this.cell)
      if (E.isLeft(decided)) return false
      evolve(this.cell, input)
      for (const decision of decided.right) evolve(this.cell, decision)
    }
    return true
  }

  /** Where the next pass starts it; null: it does not, or those start behind whom the copy knows nobody. */
  starts(): ReadonlyArray<LeasePart> | null {
    const admitted = this.admitted()
    return admitted.some(({ workload }) => workload !== this.id && this.rims.has(workload))
      ? null
      : (admitted.find(({ workload }) => workload === this.id)?.lease ?? null)
  }

  /** As far as the copy knows. */
  seemsToStart(): boolean {
    return this.admitted().some(({ workload }) => workload === this.id)
  }

  private admitted(): ReadonlyArray<WorkloadAdmitted['data']> {
    this.passes++
    const decided = decide({ type: 'Ticked', at: this.cell.now, data: {} }, this.cell)
    return E.isLeft(decided)
      ? []
      : decided.right.flatMap((decision) => (decision.type === 'WorkloadAdmitted' ? [decision.data] : []))
  }
}
