import { passingShape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { Cell } from './cell.ts'
import type { LeasePart } from './cell-event.ts'
import { endsFor } from './ends-for.ts'
import { askingOf, inputsOf, nodesOf, type Hint, type HintedChange } from './hint.ts'
import { raisesFor } from './raises-for.ts'
import { StandIn } from './stand-in.ts'
import { WhatIf, type Trial } from './what-if.ts'
import type { Workload } from './workload.ts'

const probesMax = 12
const raisesMax = 4
const endsMax = 4
const minute = 60_000
/** A month, where it does not say how long it runs. */
const longestMs = 30 * 24 * 60 * minute

/**
 * The smallest changes that start it now, each decided by the planner: on a copy of what can make a difference to it, or
 * in the cell itself where that is too much work, as far as nobody else has a part in it. None where nothing helps.
 */
export const hintsOf = (cell: Cell, workload: Workload, whatIf = new WhatIf(cell, workload)): ReadonlyArray<Hint> => {
  const { onHold, queue, run } = workload
  if (run !== null || onHold || queue.index < 0 || !cell.decides) return []
  const hints = new Hints(cell, workload, whatIf, whatIf.copy())
  // Who starts anyway needs no help.
  return hints.startsAnyway ? [] : hints.all()
}

class Hints {
  private readonly cell: Cell
  private readonly workload: Workload
  private readonly whatIf: WhatIf
  /** On which one request after another is tried instead of its own; null: that is too much work. */
  private readonly trial: Trial | null
  private made: StandIn | null = null

  constructor(cell: Cell, workload: Workload, whatIf: WhatIf, trial: Trial | null) {
    this.cell = cell
    this.workload = workload
    this.whatIf = whatIf
    this.trial = trial
  }

  /** Instead of a copy, once something is found that there is room for: mostly there is nothing. */
  private get standIn(): StandIn | null {
    return (this.made ??= StandIn.of(this.cell, this.workload))
  }

  get startsAnyway(): boolean {
    const { cell, trial, workload } = this
    if (trial !== null) return trial.starts() !== null
    return canPlace(cell.fleet, workload.shape) && this.standIn !== null && this.standIn.starts({}) !== null
  }

  all(): ReadonlyArray<Hint> {
    const { cell, trial, workload } = this
    const ends = trial === null ? null : this.firstOf(endsFor(trial.cell, workload.id), endsMax)
    const raised = trial === null ? null : this.firstOf(raisesFor(cell, workload), raisesMax)
    const hints = [...this.smaller(), this.accelerator(), this.shorter(), this.preemptible(), raised, ends]
    return hints.filter((hint) => hint !== null)
  }

  /** Each amount that it asks for, as large as it can be. */
  private smaller(): ReadonlyArray<Hint | null> {
    const { request, whole } = this.workload.shape
    const { cpuMilli, devices, hostMemoryMib, memoryMib, milli, topology } = request
    const step = topology?.sliceSize ?? 1
    const fewest = Math.max(this.workload.terms.elasticity?.minReplicas ?? 1, step)
    return [
      this.most(fewest, devices - step, step, (count) => ({ change: 'fewer-devices', devices: count })),
      // Who wants several whole devices is not helped by nearly all of each.
      this.most(1, devices > 1 && whole ? 0 : milli - 1, 1, (part) => ({ change: 'smaller-share', milli: part })),
      this.most(1, memoryMib - 1, 1, (amount) => ({ change: 'less-memory', memoryMib: amount })),
      this.most(1, cpuMilli - 1, 1, (amount) => ({ change: 'fewer-cores', cpuMilli: amount })),
      this.most(1, hostMemoryMib - 1, 1, (amount) => ({ change: 'less-host-memory', hostMemoryMib: amount })),
    ]
  }

  /** Any that the fleet has first: that one says which. */
  private accelerator(): Hint | null {
    const { models } = this.workload.shape.request
    if (models === null) return null
    const every = [...this.cell.fleet.models].filter((model) => model !== null && !models.includes(model))
    const change = { change: 'accelerator', models: every as ReadonlyArray<string> } as const
    const lease = this.fits(change) ? this.tried(change) : null
    if (lease === null) return null
    const { fleet } = this.cell
    const used = new Set(lease.map(({ node }) => fleet.nodes[fleet.node(node)!]!.model))
    return this.hinted({ change: 'accelerator', models: every.filter((model) => used.has(model)) as string[] })
  }

  private shorter(): Hint | null {
    // Without copies nothing is known of places that are kept.
    if (this.trial === null || this.workload.hold?.code !== 'WouldDelayReservation') return null
    const longest = Math.floor((this.workload.estimateMs ?? longestMs) / minute)
    return this.most(1, longest, 1, (minutes) => ({ change: 'shorter', estimateMs: minutes * minute }))
  }

  private preemptible(): Hint | null {
    if (this.workload.hold?.code !== 'NonPreemptibleOverQuota') return null
    const drill = !this.cell.isDrilled(this.workload, this.cell.now)
    const change = { change: 'preemptible', drill } as const
    return this.trial === null && !drill ? this.hinted(change) : this.first(change)
  }

  /** The largest of these with which it starts: what the fleet's index rules out is not tried. */
  private most(least: number, largest: number, step: number, changeTo: (amount: number) => HintedChange): Hint | null {
    // Mostly there is room for nothing: one look tells.
    if (largest < least || !this.fits(changeTo(least))) return null
    const amount = (i: number) => least + i * step
    let high = lastOf(Math.floor((largest - least) / step), (i) => this.fits(changeTo(amount(i))))
    let low = 0
    let best: Hint | null = null
    for (let probe = 0; probe < probesMax && low <= high; probe++) {
      const middle = probe === 0 ? high : (low + high) >> 1
      const hint = this.hinted(changeTo(amount(middle)))
      if (hint === null) high = middle - 1
      else {
        best = hint
        low = middle + 1
      }
    }
    return best
  }

  private fits(change: HintedChange): boolean {
    const { cell, workload } = this
    const request = askingOf(workload, change)?.request
    if (request === undefined) return true
    const asked = { ...workload.shape.request, ...request }
    // What is known of levels is kept by shape.
    return canPlace(cell.fleet, asked.topology === undefined ? passingShape(asked) : cell.shapes.intern(asked))
  }

  /** Where one asks for one thing after another. */
  private tried(change: HintedChange): ReadonlyArray<LeasePart> | null {
    const { cell, trial, workload } = this
    if (trial !== null) return trial.tell(...inputsOf(cell, workload, change)) ? trial.starts() : null
    const asking = askingOf(workload, change)
    return asking === null ? null : (this.standIn?.starts(asking) ?? null)
  }

  private hinted(change: HintedChange): Hint | null {
    const lease = this.tried(change)
    return lease === null ? null : { ...change, nodes: nodesOf(lease) }
  }

  /** On a copy of its own. */
  private first(change: HintedChange): Hint | null {
    const lease = this.whatIf.startsAfter(inputsOf(this.cell, this.workload, change))
    return lease === null ? null : { ...change, nodes: nodesOf(lease) }
  }

  private firstOf(changes: Iterable<HintedChange>, most: number): Hint | null {
    let tried = 0
    for (const change of changes) {
      if (++tried > most) return null
      const hint = this.first(change)
      if (hint !== null) return hint
    }
    return null
  }
}

/** The last of 0 to `last` of which it holds, if it holds of none behind one of which it does not; -1: of none. */
const lastOf = (last: number, holds: (i: number) => boolean): number => {
  let low = 0
  let high = last
  while (low <= high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle - 1
  }
  return high
}
