import type { QueuePreemption } from '../policy/quota-policy.ts'

export type PreemptionRule = QueuePreemption['withinQueue'] | QueuePreemption['reclaimWithinCohort']

/** As a rule sees it: priority with whatever boosts it, and when it was created, in ms. */
export interface Standing {
  readonly priority: number
  readonly createdAt: number
}

/** Whether a rule lets the one be evicted for the other. */
export const mayPreempt = (rule: PreemptionRule, preemptor: Standing, candidate: Standing): boolean => {
  switch (rule) {
    case 'never':
      return false
    case 'any':
      return true
    case 'lowerPriority':
      return candidate.priority < preemptor.priority
    case 'lowerOrNewerEqualPriority':
      if (candidate.priority !== preemptor.priority) return candidate.priority < preemptor.priority
      return candidate.createdAt > preemptor.createdAt
  }
}
