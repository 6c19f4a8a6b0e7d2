import { either as E } from 'fp-ts'
import { fromSnapshot, takeSnapshot, type CellSnapshot } from './cell-snapshot.ts'
import type { Cell } from './cell.ts'
import type { CellInput, LeasePart } from './cell-event.ts'
import { contendersOf, leastContenders, type Contenders } from './contenders.ts'
import { decide } from './decide.ts'
import { evolve } from './evolve.ts'
import type { Workload } from './workload.ts'

/** So many that run, and are first of their kind, are copied in all for the sake of one question: some milliseconds. */
const copiedMax = 500
/** Copies of a small cell. */
const copiesMax = 12
const perLineMax = 8

/** Copies of a cell on which the planner decides what would come of a change for one workload that waits. */
export class WhatIf {
  private readonly cell: Cell
  private readonly workload: Workload
  private readonly perLine: number
  private readonly copiedMax: number
  private copies = 0
  private contenders: Contenders | null = null
  private snapshot: CellSnapshot | null = null

  constructor(cell: Cell, workload: Workload, perLine = perLineMax, most = copiedMax) {
    this.cell = cell
    this.workload = workload
    this.perLine = perLine
    this.copiedMax = most
  }

  /** Null: that is too much work. */
  copy(): Trial | null {
    if (this.contenders === null && leastContenders(this.cell) > this.copiedMax) return null
    const { workloads, rims } = (this.contenders ??= contendersOf(this.cell, this.workload, this.perLine))
    if ((this.copies + 1) * workloads.size > this.copiedMax || this.copies === copiesMax) return null
    this.copies++
    this.snapshot ??= takeSnapshot(this.cell, workloads)
    return new Trial(fromSnapshot(this.snapshot), this.workload.id, rims)
  }

  /** Where it starts at once when this has happened; null: it does not, or nobody knows. */
  startsAfter(inputs: ReadonlyArray<CellInput>): ReadonlyArray<LeasePart> | null {
    const trial = this.copy()
    return trial?.tell(...inputs) === true ? trial.starts() : null
  }
}

/** One copy, which goes its own way. */
export class Trial {
  readonly cell: Cell
  private readonly id: string
  private readonly rims: ReadonlySet<string>

  constructor(cell: Cell, id: string, rims: ReadonlySet<string>) {
    this.cell = cell
    this.id = id
    this.rims = rims
  }

  /** Whether all of it was taken. */
  tell(...inputs: ReadonlyArray<CellInput>): boolean {
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
    const decided = decide({ type: 'Ticked', at: this.cell.now, data: {} }, this.cell)
    if (E.isLeft(decided)) return null
    let lease: ReadonlyArray<LeasePart> | null = null
    for (const decision of decided.right) {
      if (decision.type !== 'WorkloadAdmitted') continue
      const { workload } = decision.data
      if (workload === this.id) ({ lease } = decision.data)
      else if (this.rims.has(workload)) return null
    }
    return lease
  }
}
