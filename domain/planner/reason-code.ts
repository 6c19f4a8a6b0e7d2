/**
 * Why a workload is held or refused: a closed list (docs/reasons.md). This release gives
 * - WaitingForCapacity: less is free in the fleet than it needs;
 * - FragmentedCapacity: enough is free in total, but no place of its span has all of it;
 * - BehindInQueue: another workload of its queue must start first;
 * - WouldDelayReservation: it fits, but would run into what is reserved for the head of its queue, or of one before it;
 * - ExceedsFleet: the empty fleet could not hold it;
 * - NoMatchingAccelerator: no device of the fleet is of a model it accepts;
 * - Misconfigured: it names a queue that the policy does not have.
 */
export const reasonCodes = [
  'WaitingForCapacity',
  'FragmentedCapacity',
  'BehindInQueue',
  'WouldDelayReservation',
  'ExceedsFleet',
  'NoMatchingAccelerator',
  'Misconfigured',
] as const
export type ReasonCode = (typeof reasonCodes)[number]
