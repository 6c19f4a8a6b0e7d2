import type { CpuMilli, GpuMilli, Mebibytes } from '../kernel/units.ts'

/** How far a request's devices may lie apart: one node, one topology domain (an NVLink domain, a rack), anywhere. */
export type Span = 'node' | 'domain' | 'anywhere'

/** The finest level of every topology: the nodes themselves. */
export const nodeLevel = 'node'

/**
 * In which domains of a level the devices lie together: all of them (`required`), all of them if that can be had
 * (`preferred`, else the next coarser level), or by `sliceSize` in one domain of `sliceLevel`. At most one of the first
 * two is there, the last two are there together, and the slices divide the devices. Levels are the policy's
 * `topologyLevels`, and `node`.
 */
export interface TopologyRequest {
  readonly preferred?: string
  readonly required?: string
  readonly sliceLevel?: string
  readonly sliceSize?: number
}

/**
 * What one attempt needs, all of it at once or none: a gang. Per device: `milli` thousandths and `memoryMib` of device
 * memory. A whole device is 1000; `milli` 0 with memory stated takes the part of a device that its memory makes of the
 * device's. `cpuMilli` and `hostMemoryMib` are for the whole workload; where it spans nodes, each node gives its part
 * in proportion to the devices taken there, rounded up. `models` null: any device will do.
 */
export interface PlacementRequest {
  readonly cpuMilli: CpuMilli
  readonly devices: number
  readonly hostMemoryMib: Mebibytes
  readonly memoryMib: Mebibytes
  readonly milli: GpuMilli
  /** Sorted, without repeats. */
  readonly models: ReadonlyArray<string> | null
  readonly span: Span
  /** Absent: the span says all; with it the span is `anywhere`, and devices are asked for. */
  readonly topology?: TopologyRequest
}

/** Most devices of one request, and most models that it may name, whatever form it comes in. */
export const requestDevicesMax = 1_000_000
export const requestModelsMax = 64

/**
 * Of an amount for the whole request, CPU or host memory, the part that goes with `taken` of its devices, rounded up.
 * Exact: an amount is below 2^31, and the devices are at most `requestDevicesMax`.
 */
export const partOf = (amount: number, taken: number, devices: number): number =>
  taken === devices ? amount : Math.ceil((amount * taken) / devices)

/** GPU milli that the request counts for in totals: devices x thousandths. */
export const requestedMilli = (request: PlacementRequest): number => request.devices * request.milli
