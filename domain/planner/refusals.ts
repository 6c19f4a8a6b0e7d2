import type { EpochMs } from '../kernel/units.ts'
import type { Block } from './block.ts'

/** Why those could not leave who would have had to. */
export class Refusals {
  private protectedUntil = Infinity
  /** Of the protection that ends first. */
  private rule = 'spec.contract.minRuntimeMax'
  private undrilledCount = 0
  private limitedCount = 0
  private retryAt: EpochMs | null = null
  private protectedCount = 0

  until(at: number, rule: string): void {
    this.protectedCount++
    if (at >= this.protectedUntil) return
    this.protectedUntil = at
    this.rule = rule
  }
  undrilled(): void {
    this.undrilledCount++
  }
  limited(retryAt: EpochMs | null): void {
    this.limitedCount++
    if (retryAt !== null && (this.retryAt === null || retryAt < this.retryAt)) this.retryAt = retryAt
  }

  block(): Block | null {
    if (this.protectedCount > 0)
      return {
        code: 'ProtectedWindow',
        rule: this.rule,
        compared: {
          protectedAttempts: this.protectedCount,
          ...(this.protectedUntil < Infinity && { untilMs: this.protectedUntil }),
        },
      }
    if (this.limitedCount > 0)
      return {
        code: 'PreemptionRateLimited',
        rule: 'spec.limits.preemptionsPerTeamHour',
        compared: { limitedAttempts: this.limitedCount, ...(this.retryAt !== null && { retryAtMs: this.retryAt }) },
      }
    if (this.undrilledCount > 0)
      return {
        code: 'DrillNotPassed',
        rule: 'spec.contract.drillRequired',
        compared: { undrilledAttempts: this.undrilledCount },
      }
    return null
  }
}
