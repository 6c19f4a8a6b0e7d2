import type { Fleet, Placement, PlacementPart } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'

/** What is taken of a placement, device by device, as far as it is free. */
export class Gathering {
  readonly shape: Shape
  readonly parts: Placement['parts']
  /** What is taken of each device for it already. */
  private readonly taken = new Map<string, PlacementPart>()

  constructor(shape: Shape, parts: Placement['parts']) {
    this.shape = shape
    this.parts = parts
  }

  /** Takes what has come free of it on these nodes, or anywhere. */
  gather(fleet: Fleet, nodes: ReadonlySet<number> | null): void {
    for (const part of this.parts) {
      if (nodes !== null && !nodes.has(part.node)) continue
      for (const device of part.devices) {
        const key = `${part.node} ${device}`
        const before = this.taken.get(key)
        const at = fleet.firstDevice[part.node]! + device
        const milli = Math.min(part.milli, fleet.deviceFree[at]! + (before?.milli ?? 0))
        const memoryMib = Math.min(part.memoryMib, fleet.deviceMemoryFree[at]! + (before?.memoryMib ?? 0))
        if (milli === (before?.milli ?? 0) && memoryMib === (before?.memoryMib ?? 0)) continue
        if (before !== undefined) fleet.give(this.shape, before)
        const one = { ...part, devices: [device], memoryMib, milli }
        fleet.take(this.shape, one)
        this.taken.set(key, one)
      }
    }
  }

  /** Gives all of it back to the fleet. */
  release(fleet: Fleet): void {
    for (const part of this.taken.values()) fleet.give(this.shape, part)
    this.taken.clear()
  }

  /** What is not taken yet, device by device. */
  get lacking(): Placement['parts'] {
    return this.parts.flatMap((part) =>
      part.devices.flatMap((device) => {
        const milli = part.milli - (this.taken.get(`${part.node} ${device}`)?.milli ?? 0)
        return milli === 0 ? [] : [{ ...part, devices: [device], milli }]
      }),
    )
  }

  /** Thousandths of devices that are taken for it already. */
  get keptMilli(): number {
    let sum = 0
    for (const { milli } of this.taken.values()) sum += milli
    return sum
  }

  /** All of it is free, and the workload may start there. */
  isComplete(): boolean {
    return this.parts.every(({ node, devices, milli, memoryMib }) =>
      devices.every((device) => {
        const one = this.taken.get(`${node} ${device}`)
        return one !== undefined && one.milli === milli && one.memoryMib === memoryMib
      }),
    )
  }
}
