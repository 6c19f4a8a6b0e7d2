import type { EpochMs } from '../kernel/units.ts'
import type { Victim } from '../kueue/preemption-request.ts'
import type { KueueBooks } from './kueue-books.ts'
import { heldMilli } from './tallies.ts'
import type { VictimOption } from './victim-option.ts'
import type { Workload } from './workload.ts'

/** A running attempt that is evicted whole: nobody shrinks for quota. */
export const victimOf = (books: KueueBooks, workload: Workload, at: EpochMs): VictimOption => {
  const run = workload.run!
  const rate = books.rateOf(run.parts)
  const savedAt = Math.max(run.confirmedAt ?? run.startedAt, run.checkpointAt ?? 0)
  const loss = rate * Math.max(0, at - savedAt)
  return { workload, run, frees: run.parts, keeps: null, rate, freedMilli: heldMilli(run.parts), loss, ranked: loss }
}

/** Below the policy of a queue, what lets it be evicted. */
export const ruleOfVictim = ({ reason }: Victim): string => {
  switch (reason) {
    case 'WithinQueue':
      return 'preemption.withinQueue'
    case 'ReclaimInCohort':
    case 'FairShareInCohort':
      return 'preemption.reclaimWithinCohort'
    case 'ReclaimWhileBorrowing':
      return 'preemption.borrowWithinCohort'
  }
}
