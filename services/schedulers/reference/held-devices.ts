import { wholeGpu } from '../../../domain/kernel/units.ts'
import type { LeasePart } from '../../../domain/planner/cell-event.ts'
import type { NodeSpec } from '../../../domain/fleet/fleet.ts'

type Lease = ReadonlyArray<LeasePart>

/** Why this lease cannot be had on this fleet beside those that are held; null: it can. */
export const leaseObjection = (
  lease: Lease,
  nodes: ReadonlyMap<string, NodeSpec>,
  held: ReadonlyArray<Lease>,
): string | null => {
  if (lease.length === 0) return 'it is given no node to run on'
  const taken = new Map<string, number>()
  for (const { devices, milli, node } of held.flat())
    for (const device of devices) taken.set(`${node} ${device}`, (taken.get(`${node} ${device}`) ?? 0) + milli)
  for (const { devices, milli, node } of lease) {
    const there = nodes.get(node)
    if (there === undefined) return `there is no node ${node} here`
    for (const device of devices) {
      if (device >= there.devices) return `${node} has ${there.devices} devices, and no device ${device}`
      if ((taken.get(`${node} ${device}`) ?? 0) + milli > wholeGpu)
        return `device ${device} of ${node} is held by a job that has not stopped`
    }
  }
  return null
}
