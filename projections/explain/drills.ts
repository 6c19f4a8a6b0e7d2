import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { contractOf } from '../../domain/policy/allocation-policy.ts'

/** What the newest drill of a team's work of one family showed. */
export interface DrillRow {
  readonly team: string
  /** Null: work that names none. */
  readonly modelFamily: string | null
  readonly outcome: 'passed' | 'failed'
  readonly at: EpochMs
  /** Until when such work may be evicted because of it; null: it failed. */
  readonly validUntil: EpochMs | null
  /** Whether it may be now; so it may always where the policy asks for no drills. */
  readonly counts: boolean
  readonly required: boolean
}

/** By team, then family. */
export const drillsOf = ({ drills, now, policy }: Cell): ReadonlyArray<DrillRow> => {
  const { drillRequired, drillValidMs } = contractOf(policy)
  return drills.all
    .map(({ drill: { modelFamily, outcome, team }, at }): DrillRow => {
      const validUntil = outcome === 'passed' ? ((at + drillValidMs) as EpochMs) : null
      const counts = !drillRequired || drills.passed(team, modelFamily, now, drillValidMs)
      return { team, modelFamily, outcome, at, validUntil, counts, required: drillRequired }
    })
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = ({ modelFamily, team }: DrillRow): string => JSON.stringify([team, modelFamily ?? ''])
