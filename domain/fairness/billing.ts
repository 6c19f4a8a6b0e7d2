import { assert } from '../kernel/decider.ts'

/**
 * The rate that a run is charged at: its amounts by their weights.
 * @param amounts      held, whole numbers, shape [resources]
 * @param weightsMilli thousandths, shape [resources]
 * @returns            thousandths of a billing unit
 * @throws             broken invariant when the shapes differ or the sum is beyond 2^53
 */
export const billedMilli = (amounts: ReadonlyArray<number>, weightsMilli: ReadonlyArray<number>): number => {
  assert(amounts.length === weightsMilli.length, 'amounts and weights have one entry per resource')
  let billed = 0
  for (let i = 0; i < amounts.length; i++) billed += amounts[i]! * weightsMilli[i]!
  assert(Number.isSafeInteger(billed) && billed >= 0, 'what is billed is a whole number below 2^53')
  return billed
}
