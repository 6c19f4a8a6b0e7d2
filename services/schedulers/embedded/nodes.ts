import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { NodeRegistered } from '../../../domain/planner/cell-event.ts'
import { equalNodes } from '../../../domain/simulation/equal-nodes.ts'

/** Facts that register nodes to pretend on. */
export const pretendedNodes = (
  count: number,
  devices: number,
  at: EpochMs,
): ReadonlyArray<NodeRegistered & { readonly id: string }> =>
  equalNodes(count, devices).map((data) => ({ id: `embedded/node/${data.node}`, type: 'NodeRegistered', at, data }))
