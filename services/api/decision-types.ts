import { nearest } from '../../domain/kernel/wording.ts'
import type { CellDecision } from '../../domain/planner/cell-event.ts'
import { shortType } from '../../projections/explain/event-text.ts'

export const decisionTypes: ReadonlyArray<CellDecision['type']> = [
  'WorkloadAdmitted',
  'WorkloadHeld',
  'WorkloadRefused',
  'EstimateOverran',
  'CommandIssued',
  'AttemptStopped',
  'LeaseShrunk',
  'WorkloadCancelled',
  'PreemptionDecided',
  'PlaceReleased',
  'WorkloadPromoted',
  'LeaseIdled',
  'BudgetChanged',
  'GrantLapsed',
]

/** By its whole name or the short one that tables have, in any case: `WorkloadHeld`, `Held`, `held`. */
export const decisionTypeNamed = (name: string): CellDecision['type'] | null => {
  const given = name.toLowerCase()
  return decisionTypes.find((type) => [type, shortType(type)].some((each) => each.toLowerCase() === given)) ?? null
}

/** What was probably meant by a name that is none; null: nobody knows. */
export const decisionTypeNear = (name: string): string | null =>
  nearest(
    name,
    decisionTypes.flatMap((type) => [type, shortType(type)]),
  )
