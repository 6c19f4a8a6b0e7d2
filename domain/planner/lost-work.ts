import type { LimitsPolicy } from '../policy/contract-policy.ts'
import type { Block } from './block.ts'

const msPerHour = 3_600_000

/** Milli-units times ms that one decision may lose. */
export const lossMaxOf = ({ lossMaxMilliUnitHours }: LimitsPolicy): number =>
  lossMaxMilliUnitHours === null ? Infinity : lossMaxMilliUnitHours * msPerHour

/** Why one decision may not lose so much work, milli-units times ms; null: it may. */
export const losesTooMuch = (limits: LimitsPolicy, loss: number): Block | null => {
  const { lossMaxMilliUnitHours } = limits
  if (lossMaxMilliUnitHours === null || loss <= lossMaxOf(limits)) return null
  return {
    code: 'PreemptionRateLimited',
    rule: 'spec.limits.lossMax',
    compared: { lossMaxMilliUnitHours, lossMilliUnitHours: Math.ceil(loss / msPerHour) },
  }
}
