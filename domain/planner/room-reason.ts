import type { ReasonCode } from './reason-code.ts'

/** Held by want of room alone. */
export const wantsRoom: ReadonlySet<string> = new Set<ReasonCode>([
  'WaitingForCapacity',
  'FragmentedCapacity',
  'TopologyPlacementFailed',
])

/** Held by want of room, and what a claim to that of others comes to: only what comes free makes a difference. */
export const lacksRoom: ReadonlySet<string> = new Set([
  ...wantsRoom,
  'BehindHigherShare',
  'BudgetExhaustedInWindow',
  'DrillNotPassed',
  'PreemptionRateLimited',
  'ProtectedWindow',
  'SearchBudgetExhausted',
])

/** Devices that are kept, whoever comes, as against a place that is kept for somebody for as long as it waits. */
export const isReserve = ({ code, rule }: { readonly code: ReasonCode; readonly rule: string }): boolean =>
  code === 'WouldDelayReservation' && rule !== 'spec.classes' && !rule.endsWith('.reserveAfter')
