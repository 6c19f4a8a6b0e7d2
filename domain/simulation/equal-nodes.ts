import type { NodeSpec } from '../fleet/fleet.ts'

/** Nodes `node-0000`, `node-0001` ... without limits of CPU, memory or model. */
export const equalNodes = (count: number, devices: number): ReadonlyArray<NodeSpec> =>
  Array.from({ length: count }, (_, i) => ({
    cpuMilli: null,
    deviceMemoryMib: null,
    devices,
    domain: null,
    hostMemoryMib: null,
    model: null,
    node: `node-${String(i).padStart(4, '0')}`,
  }))
