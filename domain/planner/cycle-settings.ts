import type { CycleSettings } from '../kueue/nomination.ts'

/** How cycles of admission are run in every cell. */
export const cycleSettings: CycleSettings = {
  partialAdmission: true,
  preemptorsFirst: true,
  priorityFirst: true,
  recomputeOnVictimOverlap: true,
}
