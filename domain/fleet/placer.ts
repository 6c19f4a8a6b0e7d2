import { randomBelow } from '../kernel/random.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Fleet, Placement, PlacementPart } from './fleet.ts'
import { scoreStepMilli, type FragmentationMeasure } from './fragmentation.ts'
import { fitsNode, milliOn, nextFit, partOn, pickDevices, type DevicePick } from './placement.ts'
import type { Shape } from './shape.ts'
import { placeSpanning } from './spanning.ts'

/** What a strategy needs besides the fleet: the policy, and the mix that fragmentation is measured against. */
export interface PlacementRules {
  readonly policy: AllocationPolicy['placement']
  readonly fragmentation: FragmentationMeasure
}

/** Narrows a search: only to these nodes, and not to that one. */
export interface Candidates {
  readonly only: ReadonlyArray<number> | null
  readonly except: number
}

export const everywhere: Candidates = { only: null, except: -1 }

/** Scores kept at most, over all shapes: 64 MiB. */
const cachedScoresMax = 4_194_304
const cachedShapesMax = 512

interface Scores {
  /** The node's version that the score is of; -1: none. */
  readonly version: Int32Array
  readonly score: Float64Array
  readonly device: Int32Array
}

/**
 * Chooses where a request goes. Every strategy takes the node with the least score, the earliest registered on a tie.
 * Scores that cost much are kept per shape and node until the node changes.
 */
export class Placer {
  private readonly fleet: Fleet
  private scores = new Map<number, Scores>()
  private scoredBy: FragmentationMeasure | null = null
  private scarcity: Float64Array | null = null
  private scarcityOf = -1

  constructor(fleet: Fleet) {
    this.fleet = fleet
  }

  /** `draw` decides `random`: a number of the workload's own. Null: it does not fit there now. */
  place(shape: Shape, rules: PlacementRules, draw: number, candidates: Candidates = everywhere): Placement | null {
    if (shape.request.span !== 'node' && shape.request.devices > 0) return this.spanning(shape, rules)
    switch (rules.policy.strategy) {
      case 'first-fit':
        return this.first(shape, candidates)
      case 'best-fit':
        return this.least(shape, candidates, 'fullest', (node) => this.fleet.freeMilli[node]!)
      case 'spread':
        return this.least(shape, candidates, 'emptiest', (node) => 0 - this.fleet.freeMilli[node]!)
      case 'model-aware':
        return this.least(shape, candidates, 'fullest', this.modelAwareScore(shape))
      case 'random':
        return this.random(shape, candidates, rules.policy.seed, draw)
      case 'fgd':
        return this.leastFragmenting(shape, candidates, rules.fragmentation)
    }
  }

  private first(shape: Shape, { only, except }: Candidates): Placement | null {
    let node = -1
    if (only === null) {
      node = nextFit(this.fleet, shape, 0)
      if (node >= 0 && node === except) node = nextFit(this.fleet, shape, node + 1)
    } else {
      for (const one of only)
        if (one !== except && (node < 0 || one < node) && fitsNode(this.fleet, shape, one)) node = one
    }
    if (node < 0) return null
    return placed(this.fleet, shape, node, pickDevices(this.fleet, shape, node, shape.request.devices, 'lowest'))
  }

  /** Visits every candidate that holds the request now. */
  private each(shape: Shape, { only, except }: Candidates, visit: (node: number) => void): void {
    if (only !== null) {
      for (const node of only) if (node !== except && fitsNode(this.fleet, shape, node)) visit(node)
      return
    }
    for (let node = nextFit(this.fleet, shape, 0); node >= 0; node = nextFit(this.fleet, shape, node + 1))
      if (node !== except) visit(node)
  }

  private least(
    shape: Shape,
    candidates: Candidates,
    pick: DevicePick,
    scoreOf: (node: number) => number,
  ): Placement | null {
    const best = new Best()
    this.each(shape, candidates, (node) => {
      best.offer(node, scoreOf(node))
    })
    if (best.node < 0) return null
    const devices = pickDevices(this.fleet, shape, best.node, shape.request.devices, pick)
    return placed(this.fleet, shape, best.node, devices, best)
  }

  private random(shape: Shape, candidates: Candidates, seed: number, draw: number): Placement | null {
    const nodes: number[] = []
    this.each(shape, candidates, (node) => nodes.push(node))
    if (nodes.length === 0) return null
    nodes.sort((a, b) => a - b)
    const [at, next] = randomBelow(Math.imul(draw + 1, 0x85ebca6b) ^ seed, nodes.length)
    const chosen = nodes[at]!
    const { devices } = shape.request
    const holding = pickDevices(this.fleet, shape, chosen, this.fleet.nodes[chosen]!.devices, 'lowest')
    const start = shape.whole || devices !== 1 ? 0 : randomBelow(next, holding.length)[0]
    return placed(this.fleet, shape, chosen, holding.slice(start, start + devices))
  }

  private spanning(shape: Shape, { policy }: PlacementRules): Placement | null {
    const { freeMilli } = this.fleet
    const inOrder = policy.strategy === 'first-fit'
    const sign = policy.strategy === 'spread' ? -1 : 1
    const modelAware = policy.strategy === 'model-aware' ? this.modelAwareScore(shape) : null
    const rank = inOrder ? null : (modelAware ?? ((node: number) => sign * freeMilli[node]!))
    const pick = inOrder ? 'lowest' : policy.strategy === 'spread' ? 'emptiest' : 'fullest'
    const parts = placeSpanning(this.fleet, shape, rank, pick)
    return parts === null ? null : { parts, score: null, alternative: null }
  }

  /**
   * Scarce models last: of the models that a request accepts, the one that most devices are installed of comes first;
   * then the fullest node by GPU, then by CPU. What needs no device leaves models alone and goes where GPUs are taken.
   */
  private modelAwareScore(shape: Shape): (node: number) => number {
    const { freeMilli, cpuFree } = this.fleet
    const rank = shape.request.devices === 0 ? null : this.scarcityByNode()
    // Thousandths free on a node stay below 1e8 (65,536 devices); CPU counts up to 1,000 cores.
    return (node) => (rank?.[node] ?? 0) * 1e14 + freeMilli[node]! * 1e6 + Math.min(cpuFree[node]!, 1e6 - 1)
  }

  /** Per node, the rank of its model by devices installed, most first. */
  private scarcityByNode(): Float64Array {
    const { fleet } = this
    if (this.scarcity !== null && this.scarcityOf === fleet.registrations) return this.scarcity
    const installed = new Map<string | null, number>()
    for (const { model, devices } of fleet.nodes) installed.set(model, (installed.get(model) ?? 0) + devices)
    const ranked = [...installed].sort(([a, n], [b, m]) => m - n || ((a ?? '') < (b ?? '') ? -1 : 1))
    const rankOf = new Map(ranked.map(([model], rank) => [model, rank]))
    this.scarcityOf = fleet.registrations
    return (this.scarcity = Float64Array.from(fleet.nodes, ({ model }) => rankOf.get(model)!))
  }

  private leastFragmenting(
    shape: Shape,
    { only, except }: Candidates,
    measure: FragmentationMeasure,
  ): Placement | null {
    const { fleet } = this
    const scores = this.scoresOf(shape, measure)
    const best = new Best()
    const count = only?.length ?? fleet.nodes.length
    for (let i = 0; i < count; i++) {
      const node = only === null ? i : only[i]!
      if (scores.version[node] !== fleet.version[node]) this.score(shape, node, scores, measure)
      if (node !== except) best.offer(node, scores.score[node]!)
    }
    if (best.node < 0) return null
    const first = scores.device[best.node]!
    const devices =
      shape.request.devices === 1
        ? [first]
        : pickDevices(fleet, shape, best.node, shape.request.devices, shape.whole ? 'lowest' : 'fullest')
    return placed(fleet, shape, best.node, devices, best)
  }

  private scoresOf(shape: Shape, measure: FragmentationMeasure): Scores {
    if (this.scoredBy !== measure) this.scores = new Map()
    this.scoredBy = measure
    const known = this.scores.get(shape.index)
    const { length } = this.fleet.version
    if (known?.version.length === length) return known
    if (this.scores.size >= Math.min(cachedShapesMax, cachedScoresMax / length)) this.scores.clear()
    const fresh = {
      version: new Int32Array(length).fill(-1),
      score: new Float64Array(length),
      device: new Int32Array(length),
    }
    this.scores.set(shape.index, fresh)
    return fresh
  }

  /** The least rise of the node's expected fragmentation, in steps, and the device that causes it. */
  private score(shape: Shape, node: number, scores: Scores, measure: FragmentationMeasure): void {
    const { fleet } = this
    scores.version[node] = fleet.version[node]!
    scores.score[node] = Infinity
    if (!fitsNode(fleet, shape, node)) return
    const first = fleet.firstDevice[node]!
    const count = fleet.nodes[node]!.devices
    const { devices, cpuMilli, memoryMib } = shape.request
    measure.withCpu(fleet.cpuFree[node]!)
    const before = measure.of(fleet.deviceFree, first, count)
    if (cpuMilli > 0) measure.withCpu(fleet.cpuFree[node]! - cpuMilli)
    let least = Infinity
    if (devices === 0) least = measure.of(fleet.deviceFree, first, count)
    else if (devices > 1) {
      const chosen = pickDevices(fleet, shape, node, devices, shape.whole ? 'lowest' : 'fullest')
      least = measure.of(freeAfter(fleet, first, count, chosen, milliOn(fleet, shape, node)), 0, count)
    } else {
      const milli = milliOn(fleet, shape, node)
      for (let index = 0; index < count; index++) {
        const free = fleet.usable(first + index)
        if (free < milli || fleet.deviceMemoryFree[first + index]! < memoryMib) continue
        if (index > 0 && alike(fleet, first, index)) continue
        const measured = measure.of(fleet.deviceFree, first, count, index, 1, free - milli)
        if (measured < least) {
          least = measured
          scores.device[node] = index
        }
      }
    }
    scores.score[node] = Math.floor((least - before) / (measure.weight * scoreStepMilli))
  }
}

/** The least score, and the runner-up; on a tie the node that was offered with the lower number. */
class Best {
  node = -1
  score = Infinity
  second = -1
  secondScore = Infinity

  offer(node: number, score: number): void {
    if (score < this.score || (score === this.score && score < Infinity && node < this.node)) {
      this.second = this.node
      this.secondScore = this.score
      this.node = node
      this.score = score
    } else if (score < this.secondScore) {
      this.second = node
      this.secondScore = score
    }
  }
}

/** Whether an earlier device of the node is just like this one: then it is at least as good. */
const alike = (fleet: Fleet, first: number, index: number): boolean => {
  for (let earlier = first; earlier < first + index; earlier++)
    if (
      fleet.deviceFree[earlier] === fleet.deviceFree[first + index] &&
      fleet.deviceMemoryFree[earlier] === fleet.deviceMemoryFree[first + index] &&
      fleet.deviceHealth[earlier] === fleet.deviceHealth[first + index]
    )
      return true
  return false
}

const freeAfter = (fleet: Fleet, first: number, count: number, chosen: ReadonlyArray<number>, milli: number) => {
  const free = fleet.deviceFree.slice(first, first + count)
  for (const index of chosen) free[index]! -= milli
  return free
}

const placed = (
  fleet: Fleet,
  shape: Shape,
  node: number,
  devices: ReadonlyArray<number>,
  best: Best | null = null,
): Placement => {
  const part: PlacementPart = partOn(fleet, shape, node, devices)
  return {
    parts: [part],
    score: best === null ? null : best.score,
    alternative: best === null || best.second < 0 ? null : { node: best.second, score: best.secondScore },
  }
}
