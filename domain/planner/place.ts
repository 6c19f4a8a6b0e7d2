import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { PlaceReleased, PreemptionDecided } from './cell-event.ts'
import { Gathering } from './gathering.ts'
import type { Workload } from './workload.ts'

/** What is kept for a workload until those who have to leave have left: it is taken for it as it comes free, bit by bit. */
export class Place extends Gathering {
  readonly decision: PreemptionDecided['data']
  readonly since: EpochMs

  constructor(decision: PreemptionDecided['data'], since: EpochMs, shape: Shape, parts: Placement['parts']) {
    super(shape, parts)
    this.decision = decision
    this.since = since
  }

  /** A device of it takes nothing new any more. */
  isLost(fleet: Fleet): boolean {
    return this.parts.some(
      ({ node, devices }) =>
        fleet.health[node] !== 'ready' ||
        devices.some((device) => fleet.deviceHealth[fleet.firstDevice[node]! + device] !== 0),
    )
  }

  /** Somebody was to shrink for it, and did not or cannot: it is as large as it was, and nothing is asked of it. */
  isWithheld(workloads: ReadonlyMap<string, Workload>): boolean {
    return this.decision.victims.some(({ attempt, keeps, workload }) => {
      const victim = workloads.get(workload)
      if (keeps === null || victim?.run == null || victim.attempt !== attempt) return false
      return victim.run.open === null && victim.run.tried.includes('shrink')
    })
  }
}

/** Why a place that was not moved into is given up, and by which rule: its time is up where nothing else is in the way. */
export const releasedBy = (
  lostBy: 'fleet' | 'workload' | null,
  blockedBy: string | null,
): readonly [PlaceReleased['data']['because'], string] =>
  lostBy !== null ? ['lost', lostBy] : blockedBy !== null ? ['blocked', blockedBy] : ['expired', 'spec.limits.hold']
