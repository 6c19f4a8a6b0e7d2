import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { NodeRegistered } from '../../../domain/planner/cell-event.ts'

/** Equal nodes to pretend on, without limits of CPU, memory or model. */
export const pretendedNodes = (
  count: number,
  devices: number,
  at: EpochMs,
): ReadonlyArray<NodeRegistered & { readonly id: string }> =>
  Array.from({ length: count }, (_, i) => {
    const node = `node-${String(i).padStart(4, '0')}`
    const data = {
      cpuMilli: null,
      deviceMemoryMib: null,
      devices,
      domain: null,
      hostMemoryMib: null,
      model: null,
      node,
    }
    return { id: `embedded/node/${node}`, type: 'NodeRegistered', at, data }
  })
