import type { EpochMs } from '../kernel/units.ts'
import { limitsOf } from '../policy/allocation-policy.ts'
import { askToStop } from './attempt-stop.ts'
import type { CellDecision, PreemptionDecided, SideStanding, Victim, WorkloadPromoted } from './cell-event.ts'
import type { PassBoard } from './pass-board.ts'
import type { VictimOption } from './victim-option.ts'
import type { VictimSet } from './victim-search.ts'
import type { Workload } from './workload.ts'

/** Who makes room and where, how both sides stood where that counts, and by which rule; without one, by debt. */
export interface Taking extends VictimSet {
  readonly looked: number
  readonly rule?: string
  readonly side: SideStanding | null
  readonly victimSide: SideStanding | null
}

/** The decision, whom it makes no victim of again, and what each victim is asked; one append. */
export const preemptionDecisions = (
  { cell, at }: PassBoard,
  workload: Workload,
  taking: Taking,
  needMilli: number,
): ReadonlyArray<CellDecision> => {
  const { holdMs, promotionAfter } = limitsOf(cell.policy)
  const { victims, placement, looked, rule = 'spec.budgets.reclaimAfter', side, victimSide } = taking
  const decided: PreemptionDecided = {
    type: 'PreemptionDecided',
    at,
    data: {
      freedMilli: victims.reduce((sum, { rate }) => sum + rate, 0),
      holdUntil: (at + holdMs) as EpochMs,
      lease: placement.parts.map((part) => cell.fleet.partNamed(part)),
      looked,
      needMilli,
      rule,
      side,
      victims: victims.map((victim) => named(cell.fleet, victim)),
      victimSide,
      withoutAt: workload.hold?.projectedStartAt ?? null,
      workload: workload.id,
    },
  }
  return [
    decided,
    ...victims.flatMap(({ workload: { id, preemptions }, keeps }): ReadonlyArray<WorkloadPromoted> => {
      if (keeps !== null || promotionAfter === null || preemptions + 1 !== promotionAfter) return []
      const data = { preemptions: promotionAfter, rule: 'spec.limits.promotionAfter', workload: id }
      return [{ type: 'WorkloadPromoted', at, data }]
    }),
    ...victims.map((victim) =>
      askToStop(cell, victim.workload, at, {
        because: 'preempted',
        preemptor: workload.id,
        rule,
        ...(victim.keeps !== null && { kept: victim.keeps }),
      }),
    ),
  ]
}

const named = (fleet: PassBoard['cell']['fleet'], { workload, keeps, loss, rate }: VictimOption): Victim => ({
  attempt: workload.attempt,
  keeps: keeps?.map((part) => fleet.partNamed(part)) ?? null,
  lossMilliUnitS: Math.ceil(loss / 1000),
  milliUnits: rate,
  workload: workload.id,
})
