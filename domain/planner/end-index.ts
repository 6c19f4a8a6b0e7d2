import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { Workload } from './workload.ts'

const blockMax = 256

/** Running workloads whose end is expected, soonest first, then in order of submission. */
export class EndIndex {
  private readonly blocks: Workload[][] = []
  private count = 0

  get size(): number {
    return this.count
  }

  get soonest(): Workload | null {
    return this.blocks[0]?.[0] ?? null
  }

  add(workload: Workload): void {
    this.count++
    const { blocks } = this
    if (blocks.length === 0) {
      blocks.push([workload])
      return
    }
    const at = this.blockOf(workload)
    const block = blocks[at]!
    block.splice(placeIn(block, workload), 0, workload)
    if (block.length > blockMax) blocks.splice(at + 1, 0, block.splice(blockMax / 2))
  }

  remove(workload: Workload): void {
    const at = this.blockOf(workload)
    const block = this.blocks[at]
    const place = block === undefined ? -1 : placeIn(block, workload)
    assert(block?.[place] === workload, 'what ends was expected to end')
    block.splice(place, 1)
    if (block.length === 0) this.blocks.splice(at, 1)
    this.count--
  }

  *[Symbol.iterator](): Generator<Workload> {
    for (const block of this.blocks) yield* block
  }

  /** The first block whose last member is not before the workload, or the last block. */
  private blockOf(workload: Workload): number {
    const { blocks } = this
    let low = 0
    let high = blocks.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const block = blocks[middle]!
      if (before(block[block.length - 1]!, workload)) low = middle + 1
      else high = middle
    }
    return low
  }
}

export const endOf = (workload: Workload): EpochMs => workload.run!.expectedEndAt!

const before = (a: Workload, b: Workload): boolean => endOf(a) < endOf(b) || (endOf(a) === endOf(b) && a.seq < b.seq)

const placeIn = (block: ReadonlyArray<Workload>, workload: Workload): number => {
  let low = 0
  let high = block.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (before(block[middle]!, workload)) low = middle + 1
    else high = middle
  }
  return low
}
