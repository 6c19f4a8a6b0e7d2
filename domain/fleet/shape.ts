import { wholeGpu } from '../kernel/units.ts'
import { requestedMilli, type PlacementRequest } from '../workload/request.ts'
import type { LeastCapacity } from './capacity-tree.ts'

/**
 * A class of equal requests. Placement, scores and reasons are worked out once per shape, however many workloads ask
 * for it.
 */
export interface Shape {
  readonly index: number
  readonly request: PlacementRequest
  readonly needMilli: number
  /** Takes devices that nobody else uses. */
  readonly whole: boolean
  /** Bounds of the search for one node; the request itself decides. */
  readonly least: LeastCapacity
}

/** Every distinct request that was seen, in order of first sight. */
export class ShapeTable {
  private readonly byKey = new Map<string, Shape>()
  readonly shapes: Shape[] = []

  intern(request: PlacementRequest): Shape {
    const { cpuMilli, devices, hostMemoryMib, memoryMib, milli, models, span } = request
    // No name has a blank in it, and none is empty.
    const key = `${cpuMilli} ${devices} ${hostMemoryMib} ${memoryMib} ${milli} ${span} ${models?.join(' ') ?? ''}`
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const whole = milli === wholeGpu && devices > 0
    const shape: Shape = {
      index: this.shapes.length,
      request,
      needMilli: requestedMilli(request),
      whole,
      least: {
        largestMilli: devices === 0 ? 0 : Math.max(1, milli),
        wholeDevices: whole ? devices : 0,
        cpuMilli,
        hostMemoryMib,
      },
    }
    this.byKey.set(key, shape)
    this.shapes.push(shape)
    return shape
  }
}
