import { wholeGpu } from '../kernel/units.ts'
import { requestedMilli, type PlacementRequest, type TopologyRequest } from '../workload/request.ts'
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
    const hash = hashOfRequest(request)
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

/** Of a request that is only asked about: nothing is remembered of it. */
export const passingShape = (request: PlacementRequest): Shape => shapeOf(request, -1)

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

/** Over every member, so that requests made to be alike in some of them do not all fall on one number. */
export const hashOfRequest = ({
  cpuMilli,
  devices,
  hostMemoryMib,
  memoryMib,
  milli,
  models,
  span,
  topology,
}: PlacementRequest): number => {
  let hash = mixed(mixed(mixed(mixed(mixed(span.length, cpuMilli), hostMemoryMib), devices), milli), memoryMib)
  for (const model of models ?? []) hash = mixedIn(hash, model)
  if (topology === undefined) return hash
  const { preferred = '', required = '', sliceLevel = '', sliceSize = 0 } = topology
  return mixedIn(mixedIn(mixedIn(mixed(hash, sliceSize), preferred), required), sliceLevel)
}

const mixedIn = (hash: number, text: string): number => {
  let bits = mixed(hash, text.length)
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193)
  return bits
}

/** 32 bits that each bit of both numbers has a part in. */
const mixed = (hash: number, value: number): number => {
  let bits = Math.imul(hash ^ value, 0x9e3779b1)
  bits = Math.imul(bits ^ (bits >>> 15), 0x85ebca6b)
  return bits ^ (bits >>> 13)
}

const same = (a: PlacementRequest, b: PlacementRequest): boolean =>
  a.cpuMilli === b.cpuMilli &&
  a.hostMemoryMib === b.hostMemoryMib &&
  a.devices === b.devices &&
  a.milli === b.milli &&
  a.memoryMib === b.memoryMib &&
  a.span === b.span &&
  sameModels(a.models, b.models) &&
  sameTopology(a.topology, b.topology)

const sameTopology = (a: TopologyRequest | undefined, b: TopologyRequest | undefined): boolean =>
  a?.preferred === b?.preferred &&
  a?.required === b?.required &&
  a?.sliceLevel === b?.sliceLevel &&
  a?.sliceSize === b?.sliceSize

const sameModels = (a: ReadonlyArray<string> | null, b: ReadonlyArray<string> | null): boolean =>
  a === b || (a !== null && b !== null && a.length === b.length && a.every((model, i) => model === b[i]))
