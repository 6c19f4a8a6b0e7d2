import type { AllocationPolicy } from './allocation-policy.ts'
import { UnitTable } from './unit-table.ts'

/** What a policy can be held against of a node. */
export interface SuppliedNode {
  readonly node: string
  readonly model: string | null
  readonly devices: number
}

/** A fleet as a policy counts it: everything that is installed. */
export interface Supply {
  readonly devices: number
  readonly milliUnits: number
  /** Of one device of the fleet; both 0 where it has none. */
  readonly leastMilliUnits: number
  readonly mostMilliUnits: number
  /** Devices by accelerator class; those without a model belong to none. */
  readonly byAccelerator: ReadonlyMap<string, number>
  readonly nodes: ReadonlySet<string>
}

export const supplyOf = (policy: AllocationPolicy, fleet: ReadonlyArray<SuppliedNode>): Supply => {
  const units = new UnitTable(policy)
  const byAccelerator = new Map<string, number>()
  let [devices, milliUnits, least, most] = [0, 0, Infinity, 0]
  for (const node of fleet) {
    if (node.devices === 0) continue
    const each = units.milliUnits(node.model)
    devices += node.devices
    milliUnits += node.devices * each
    least = Math.min(least, each)
    most = Math.max(most, each)
    const accelerator = units.accelerator(node.model)
    if (accelerator !== null) byAccelerator.set(accelerator, (byAccelerator.get(accelerator) ?? 0) + node.devices)
  }
  return {
    byAccelerator,
    devices,
    leastMilliUnits: devices === 0 ? 0 : least,
    milliUnits,
    mostMilliUnits: most,
    nodes: new Set(fleet.map(({ node }) => node)),
  }
}
