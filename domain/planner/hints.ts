import { passingShape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { Cell } from './cell.ts'
import type { LeasePart } from './cell-event.ts'
import { endsFor } from './ends-for.ts'
import { askingOf, inputsOf, nodesOf, type Hint, type HintedChange } from './hint.ts'
import { raisesFor } from './raises-for.ts'
import { WhatIf, type Trial } from './what-if.ts'
import type { Workload } from './workload.ts'

const probesMax = 12
const raisesMax = 4
const endsMax = 4
const minute = 60_000
/** A month, where it does not say how long it runs. */
const longestMs = 30 * 24 * 60 * minute

/** What would help, as far as it was found out. */
export interface Help {
  readonly hints: ReadonlyArray<Hint>
  /** Whether something that might help was not tried, because that would have been too much work. */
  readonly isCut: boolean
}
export const noHelp: Help = { hints: [], isCut: false }

/**
 * The smallest changes that start it now, each decided by the planner on a copy of what can make a difference to it; the
 * cell is only read. None where nothing helps. What cannot help, by a look at the cell, costs no copy.
 */
export const hintsOf = (cell: Cell, workload: Workload, whatIf = new WhatIf(cell, workload)): Help => {
  const { line, queue, run } = workload
  // What is on hold, or has no place in the policy, stands in no line.
  if (run !== null || line === null || queue.index < 0 || !cell.decides) return noHelp
  return whatIf.isTooLarge ? { hints: [], isCut: true } : new Hints(cell, workload, whatIf).all()
}

class Hints {
  private readonly cell: Cell
  private readonly workload: Workload
  private readonly whatIf: WhatIf
  private isCut = false
  /** On which one request after another is tried instead of its own; null: it starts anyway. */
  private made: Trial | null | undefined

  constructor(cell: Cell, workload: Workload, whatIf: WhatIf) {
    this.cell = cell
    this.workload = workload
    this.whatIf = whatIf
  }

  all(): Help {
    const { workload } = this
    const own = [...this.smaller(), this.accelerator(), this.shorter(), this.preemptible()]
    const others = this.waitsForOthersOfItsLine
      ? []
      : [
          this.firstOf((copy) => raisesFor(copy, copy.workloads.get(workload.id)!), raisesMax),
          this.firstOf((copy) => endsFor(copy, workload.id), endsMax),
        ]
    // Who starts anyway needs no help.
    if (this.made === null) return noHelp
    return { hints: [...own, ...others].filter((hint) => hint !== null), isCut: this.isCut }
  }

  private get trial(): Trial | null {
    if (this.made !== undefined) return this.made
    const copy = this.whatIf.copy()
    return (this.made = copy.starts() === null ? copy : null)
  }

  /** Of what need not be tried. */
  private get isTooMuch(): boolean {
    const isTooMuch = !this.whatIf.affordsMore
    this.isCut ||= isTooMuch
    return isTooMuch
  }

  /** Whatever came free, or was allowed, would be theirs first. Only for the sake of a kept place are some passed over. */
  private get waitsForOthersOfItsLine(): boolean {
    return this.workload.hold?.code !== 'WouldDelayReservation' && this.whatIf.isOutnumbered
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
    if (this.workload.hold?.code !== 'WouldDelayReservation') return null
    const longest = Math.floor((this.workload.estimateMs ?? longestMs) / minute)
    return this.most(1, longest, 1, (minutes) => ({ change: 'shorter', estimateMs: minutes * minute }))
  }

  private preemptible(): Hint | null {
    if (this.workload.hold?.code !== 'NonPreemptibleOverQuota') return null
    const drill = !this.cell.isDrilled(this.workload, this.cell.now)
    return this.first({ change: 'preemptible', drill })
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
    if (trial?.isAsItWas === false && this.isTooMuch) return null
    return trial?.tell(...inputsOf(cell, workload, change)) === true ? trial.starts() : null
  }

  private hinted(change: HintedChange): Hint | null {
    const lease = this.tried(change)
    return lease === null ? null : { ...change, nodes: nodesOf(lease) }
  }

  /** On a copy of its own. */
  private first(change: HintedChange): Hint | null {
    const lease = this.trial && this.whatIf.startsAfter(inputsOf(this.cell, this.workload, change))
    return lease === null ? null : { ...change, nodes: nodesOf(lease) }
  }

  /** The first that helps. Each is looked at on top of those before it, which tells at less cost which to try alone. */
  private firstOf(changesIn: (copy: Cell) => Iterable<HintedChange>, most: number): Hint | null {
    if (this.trial === null) return null
    const copy = this.whatIf.copy()
    for (const [before, change] of firstFew(changesIn(copy.cell), most).entries()) {
      if (before > 0 && this.isTooMuch) return null
      const isTold = copy.tell(...inputsOf(this.cell, this.workload, change))
      if (before === 0) {
        const lease = isTold ? copy.starts() : null
        if (lease !== null) return { ...change, nodes: nodesOf(lease) }
        continue
      }
      if (isTold && !copy.seemsToStart()) continue
      const hint = this.first(change)
      if (hint !== null) return hint
    }
    return null
  }
}

/** Found before anything is tried: that may be on the very copy in which they are looked for. */
const firstFew = (changes: Iterable<HintedChange>, most: number): ReadonlyArray<HintedChange> => {
  const few: HintedChange[] = []
  for (const change of changes) {
    few.push(change)
    if (few.length === most) break
  }
  return few
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
