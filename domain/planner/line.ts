import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { Workload } from './workload.ts'

const firstRoom = 8

/**
 * Workloads of one queue that ask for the same, in order of submission. The first that ends soon enough is found in
 * O(log members) by a tree of least estimates.
 */
export class Line {
  readonly shape: Shape
  private members: (Workload | null)[] = []
  private begin = 0
  private live = 0
  private room = firstRoom
  private least = new Float64Array(2 * firstRoom).fill(Infinity)

  constructor(shape: Shape) {
    this.shape = shape
  }

  get size(): number {
    return this.live
  }

  get first(): Workload | null {
    return this.atOrAfter(this.begin)
  }

  add(workload: Workload): void {
    if (this.members.length === this.room) this.rebuild()
    workload.line = this
    workload.slot = this.members.length
    this.members.push(workload)
    this.live++
    this.setEstimate(workload.slot, estimateOf(workload))
  }

  remove(workload: Workload): void {
    assert(workload.line === this && this.members[workload.slot] === workload, 'a workload leaves the line it is in')
    this.members[workload.slot] = null
    this.setEstimate(workload.slot, Infinity)
    this.live--
    workload.line = null
    while (this.begin < this.members.length && this.members[this.begin] === null) this.begin++
  }

  /** The first member at this slot or behind it. */
  atOrAfter(slot: number): Workload | null {
    const { members } = this
    for (let i = Math.max(slot, this.begin); i < members.length; i++) {
      const member = members[i]
      if (member != null) return member
    }
    return null
  }

  /** The first member at this slot or behind it that is expected to run no longer than `limitMs`. */
  endingWithin(slot: number, limitMs: number): Workload | null {
    const { least, room } = this
    if (slot >= this.members.length) return null
    let i = slot + room
    for (;;) {
      if (least[i]! <= limitMs) {
        if (i >= room) return this.members[i - room]!
        i *= 2
        continue
      }
      while (i & 1) i >>= 1
      if (i === 0) return null
      i += 1
    }
  }

  private setEstimate(slot: number, estimate: number): void {
    const { least } = this
    let i = slot + this.room
    least[i] = estimate
    for (i >>= 1; i >= 1; i >>= 1) {
      const lower = Math.min(least[2 * i]!, least[2 * i + 1]!)
      if (least[i] === lower) return
      least[i] = lower
    }
  }

  /** Drops the gaps that left members made, and makes room for as many again. */
  private rebuild(): void {
    this.members = this.members.filter((member) => member !== null)
    this.begin = 0
    while (this.room < 2 * (this.members.length + 1)) this.room *= 2
    this.least = new Float64Array(2 * this.room).fill(Infinity)
    this.members.forEach((member, slot) => {
      member!.slot = slot
      this.least[this.room + slot] = estimateOf(member!)
    })
    for (let i = this.room - 1; i >= 1; i--) this.least[i] = Math.min(this.least[2 * i]!, this.least[2 * i + 1]!)
  }
}

/** Unknown is for ever: it never ends soon enough. */
const estimateOf = (workload: Workload): number => workload.estimateMs ?? Number.MAX_VALUE
