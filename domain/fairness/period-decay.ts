import { assert } from '../kernel/decider.ts'
import type { DurationMs } from '../kernel/units.ts'
import { amountBits, amountOf, factorOf, one, Powers } from './fixed-point.ts'

/** Usage is brought up to date at multiples of this since 1970, as Slurm does by default. */
export const slurmPeriodSeconds = 300

/** How usage of the past loses weight, in whole periods; and what a run is charged in the period that it falls into. */
export class PeriodDecay {
  readonly periodSeconds: number
  /** What is left of usage after a number of periods. */
  readonly powers: Powers
  /** By length of a run in seconds, up to a whole period: what one unit is charged for it, an amount of unit-seconds. */
  readonly charges: ReadonlyArray<bigint>

  private constructor(periodSeconds: number, perPeriod: bigint, charges: ReadonlyArray<bigint>) {
    this.periodSeconds = periodSeconds
    this.powers = new Powers(perPeriod)
    this.charges = charges
  }

  /** What one unit is charged for a whole period. */
  get wholeCharge(): bigint {
    return this.charges[this.periodSeconds]!
  }

  /**
   * Slurm's approximation: 1 - 0.693 / half-life is left after each second, which over a half-life is not one half
   * exactly. A run is charged its seconds by what that leaves over as many seconds.
   * @param halfLifeMs 0: nothing decays
   */
  static slurm(halfLifeMs: DurationMs): PeriodDecay {
    const left = Math.max(0, halfLifeMs - 693)
    const perSecond = new Powers(halfLifeMs === 0 ? one : factorOf(BigInt(left), BigInt(halfLifeMs)))
    const charges = Array.from({ length: slurmPeriodSeconds + 1 }, (_, seconds) =>
      amountOf(BigInt(seconds), perSecond.of(seconds)),
    )
    return new PeriodDecay(slurmPeriodSeconds, perSecond.of(slurmPeriodSeconds), charges)
  }

  /** A stated factor for each period; within its period usage counts in full. */
  static stated(periodSeconds: number, perPeriod: bigint): PeriodDecay {
    assert(Number.isSafeInteger(periodSeconds) && periodSeconds > 0, 'a period is a whole number of seconds')
    const charges = Array.from({ length: periodSeconds + 1 }, (_, seconds) => BigInt(seconds) << amountBits)
    return new PeriodDecay(periodSeconds, perPeriod, charges)
  }
}
