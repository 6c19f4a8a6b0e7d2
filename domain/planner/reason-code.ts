/**
 * Why a workload is held or refused: a closed list (docs/reasons.md).
 *
 * Of the fleet:
 * - WaitingForCapacity: less is free in the fleet than it needs;
 * - FragmentedCapacity: enough is free in total, but no place of its span has all of it;
 * - TopologyPlacementFailed: enough is free, but no domain of the level it requires has all of it;
 * - ExceedsFleet: the empty fleet could not hold it;
 * - NoMatchingAccelerator: no device of the fleet is of a model it accepts.
 *
 * Of what it says, or others say of it:
 * - Misconfigured: it names a queue, a budget or a level that the policy does not have;
 * - OnHold: somebody asked that it wait.
 *
 * Of the order:
 * - BehindInQueue: another workload of its queue, or leaf, must start first;
 * - BehindHigherShare: it would fit, but for those that were served less of what they are owed;
 * - WouldDelayReservation: it fits, but would run into what is reserved;
 * - BudgetExhaustedInWindow: its side was served all it is owed, and others want what there is.
 *
 * Of limits:
 * - WaitingForQuota: its queue may use no more now;
 * - ExceedsMaxQuota: its queue could never use so much;
 * - OverQueueLimit: a cap of its team, person or budget;
 * - NonPreemptibleOverQuota: it may not be evicted, and its program would hold more than it is entitled to.
 *
 * Of those who would have to leave for it:
 * - WaitingForVictims: they have been asked to, and its place is kept;
 * - ProtectedWindow: they run in a protected window;
 * - DrillNotPassed: nobody has seen that they can go on from a checkpoint, or not lately;
 * - PreemptionRateLimited: so many were evicted that no more may be for now, or one decision would lose too much work;
 * - SearchBudgetExhausted: the search for them was given up.
 */
export const reasonCodes = [
  'WaitingForCapacity',
  'FragmentedCapacity',
  'TopologyPlacementFailed',
  'ExceedsFleet',
  'NoMatchingAccelerator',
  'Misconfigured',
  'OnHold',
  'BehindInQueue',
  'BehindHigherShare',
  'WouldDelayReservation',
  'BudgetExhaustedInWindow',
  'WaitingForQuota',
  'ExceedsMaxQuota',
  'OverQueueLimit',
  'NonPreemptibleOverQuota',
  'WaitingForVictims',
  'ProtectedWindow',
  'DrillNotPassed',
  'PreemptionRateLimited',
  'SearchBudgetExhausted',
] as const
export type ReasonCode = (typeof reasonCodes)[number]

/** Names of the numbers that a code compares, beside those of the request and the fleet that every event has. */
export const comparedBy: { readonly [C in ReasonCode]?: ReadonlyArray<string> } = {
  WouldDelayReservation: ['keptDevices', 'freeDevices'],
  BudgetExhaustedInWindow: ['chargedMilliUnitH', 'owedMilliUnitH', 'heldMilli', 'entitledMilli'],
  WaitingForQuota: ['asked', 'available', 'nominal', 'used', 'borrowingMax', 'cohortLeft'],
  ExceedsMaxQuota: ['asked', 'available'],
  OverQueueLimit: ['heldMilli', 'capMilli'],
  NonPreemptibleOverQuota: ['heldMilli', 'entitledMilli', 'rateMilli', 'mostMilli'],
  WaitingForVictims: ['victims', 'holdUntilMs'],
  ProtectedWindow: ['protectedAttempts', 'untilMs'],
  DrillNotPassed: ['undrilledAttempts'],
  PreemptionRateLimited: [
    'limitedAttempts',
    'retryAtMs',
    'evictions',
    'evictionsLeft',
    'lossMilliUnitHours',
    'lossMaxMilliUnitHours',
  ],
  SearchBudgetExhausted: ['searches'],
}
