import type { Fleet } from './fleet.ts'
import { nextFit } from './placement.ts'
import type { Shape } from './shape.ts'

/** Narrows a search: only to these nodes, and not to that one. */
export interface Candidates {
  readonly only: ReadonlyArray<number> | null
  readonly except: number
}

export const everywhere: Candidates = { only: null, except: -1 }

/** How a strategy sees a node: the less the better, Infinity where the request does not fit now. */
export type NodeScore = (shape: Shape, node: number) => number

/** Scores kept at most, over all shapes: 48 MiB. */
const cachedScoresMax = 4_194_304
const cachedShapesMax = 512

interface Scores {
  /** The node's version that the score is of; -1: none. */
  readonly version: Int32Array
  readonly score: Float64Array
}

/** Scores per shape and node, each good until its node changes, or until something else is asked of the nodes. */
export class ScoreCache {
  private readonly fleet: Fleet
  private readonly byShape = new Map<number, Scores>()
  private basis: unknown = null

  constructor(fleet: Fleet) {
    this.fleet = fleet
  }

  /**
   * The node of the least score, the earliest registered on a tie, and the runner-up.
   * @param basis what the scores rest on besides the node: another one makes all of them stale
   */
  least(shape: Shape, { only, except }: Candidates, basis: unknown, scoreOf: NodeScore): Best | null {
    const { fleet } = this
    if (only === null && nextFit(fleet, shape, 0) < 0) return null
    const { version, score } = this.scoresOf(shape, basis)
    const best = new Best()
    const count = only?.length ?? fleet.nodes.length
    for (let i = 0; i < count; i++) {
      const node = only === null ? i : only[i]!
      if (version[node] !== fleet.version[node]) {
        version[node] = fleet.version[node]!
        score[node] = scoreOf(shape, node)
      }
      if (node !== except) best.offer(node, score[node]!)
    }
    return best.node < 0 ? null : best
  }

  private scoresOf(shape: Shape, basis: unknown): Scores {
    if (this.basis !== basis) this.byShape.clear()
    this.basis = basis
    const known = this.byShape.get(shape.index)
    const { length } = this.fleet.version
    if (known?.version.length === length) return known
    if (this.byShape.size >= Math.min(cachedShapesMax, cachedScoresMax / length)) this.byShape.clear()
    const fresh = { version: new Int32Array(length).fill(-1), score: new Float64Array(length) }
    this.byShape.set(shape.index, fresh)
    return fresh
  }
}

/** The least score, and the runner-up; on a tie the node with the lower number. */
export class Best {
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
