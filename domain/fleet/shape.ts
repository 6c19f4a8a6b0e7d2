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
  /** By a number that equal requests share. */
  private readonly byHash = new Map<number, Shape[]>()
  readonly shapes: Shape[] = []

  intern(request: PlacementRequest): Shape {
    const hash = hashOf(request)
    const alike = this.byHash.get(hash)
    const known = alike?.find((shape) => same(shape.request, request))
    if (known !== undefined) return known
    const shape = shapeOf(request, this.shapes.length)
    if (alike === undefined) this.byHash.set(hash, [shape])
    else alike.push(shape)
    this.shapes.push(shape)
    return shape
  }
}

const shapeOf = (request: PlacementRequest, index: number): Shape => {
  const { cpuMilli, devices, hostMemoryMib, milli } = request
  const whole = milli === wholeGpu && devices > 0
  return {
    index,
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
}

const hashOf = ({ cpuMilli, devices, hostMemoryMib, memoryMib, milli, models }: PlacementRequest): number => {
  let hash = Math.imul(cpuMilli, 0x9e3779b1) ^ hostMemoryMib
  hash = Math.imul(hash ^ devices, 0x85ebca6b) ^ milli
  hash = Math.imul(hash ^ memoryMib, 0xc2b2ae35)
  return models === null ? hash : hash ^ models.length
}

const same = (a: PlacementRequest, b: PlacementRequest): boolean =>
  a.cpuMilli === b.cpuMilli &&
  a.hostMemoryMib === b.hostMemoryMib &&
  a.devices === b.devices &&
  a.milli === b.milli &&
  a.memoryMib === b.memoryMib &&
  a.span === b.span &&
  sameModels(a.models, b.models)

const sameModels = (a: ReadonlyArray<string> | null, b: ReadonlyArray<string> | null): boolean =>
  a === b || (a !== null && b !== null && a.length === b.length && a.every((model, i) => model === b[i]))
