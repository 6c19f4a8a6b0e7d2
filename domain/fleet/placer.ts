import { randomBelow } from '../kernel/random.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Fleet, Placement, PlacementPart } from './fleet.ts'
import { fragmentationScore, leastFragmentingDevices } from './fragmentation-score.ts'
import type { FragmentationMeasure } from './fragmentation.ts'
import { fitsNode, nextFit, partOn, pickDevices, type DevicePick } from './placement.ts'
import { everywhere, ScoreCache, type Best, type Candidates } from './score-cache.ts'
import type { Shape } from './shape.ts'
import { placeSpanning } from './spanning.ts'

/** What a strategy needs besides the fleet: the policy, and the mix that fragmentation is measured against. */
export interface PlacementRules {
  readonly policy: AllocationPolicy['placement']
  readonly fragmentation: FragmentationMeasure
}

/**
 * Chooses where a request goes. Every strategy takes the node with the least score, the earliest registered on a tie.
 * Scores that cost much are kept per shape and node until the node changes.
 */
export class Placer {
  private readonly fleet: Fleet
  private readonly scores: ScoreCache
  private scarcity: Float64Array | null = null
  private scarcityOf = -1

  constructor(fleet: Fleet) {
    this.fleet = fleet
    this.scores = new ScoreCache(fleet)
  }

  /** `draw` decides `random`: a number of the workload's own. Null: it does not fit there now. */
  place(shape: Shape, rules: PlacementRules, draw: number, candidates: Candidates = everywhere): Placement | null {
    if (shape.request.span !== 'node' && shape.request.devices > 0) return this.spanning(shape, rules)
    switch (rules.policy.strategy) {
      case 'first-fit':
        return this.first(shape, candidates)
      case 'random':
        return this.random(shape, candidates, rules.policy.seed, draw)
      case 'best-fit':
        return this.least(shape, candidates, 'fullest', 'best-fit', (node) => this.fleet.freeMilli[node]!)
      case 'spread':
        return this.least(shape, candidates, 'emptiest', 'spread', (node) => 0 - this.fleet.freeMilli[node]!)
      case 'model-aware': {
        const basis = `model-aware ${this.fleet.registrations}`
        return this.least(shape, candidates, 'fullest', basis, this.modelAwareScore(shape))
      }
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
    basis: string,
    scoreOf: (node: number) => number,
  ): Placement | null {
    const { fleet } = this
    const best = this.scores.least(shape, candidates, basis, (asked, node) =>
      fitsNode(fleet, asked, node) ? scoreOf(node) : Infinity,
    )
    if (best === null) return null
    return placed(fleet, shape, best.node, pickDevices(fleet, shape, best.node, shape.request.devices, pick), best)
  }

  private leastFragmenting(shape: Shape, candidates: Candidates, measure: FragmentationMeasure): Placement | null {
    const { fleet } = this
    const best = this.scores.least(shape, candidates, measure, (asked, node) =>
      fragmentationScore(fleet, measure, asked, node),
    )
    if (best === null) return null
    return placed(fleet, shape, best.node, leastFragmentingDevices(fleet, measure, shape, best.node), best)
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
