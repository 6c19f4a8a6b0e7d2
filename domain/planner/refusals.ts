import type { EpochMs } from '../kernel/units.ts'
import type { Block } from './block.ts'

/** Why those could not leave who would have had to. */
export class Refusals {
  private protectedUntil = Infinity
  /** Of the protection that ends first. */
  private rule = ''
  private undrilledCount = 0
  private limitedCount = 0
  /** Of the limit that is to be had again first. */
  private limit = ''
  private retryAt = Infinity
  private protectedCount = 0

  until(at: number, rule: string): void {
    this.protectedCount++
    if (this.rule !== '' && (at > this.protectedUntil || (at === this.protectedUntil && rule >= this.rule))) return
    this.protectedUntil = at
    this.rule = rule
  }
  undrilled(): void {
    this.undrilledCount++
  }
  limited(rule: string, retryAt: EpochMs | null): void {
    this.limitedCount++
    const at = retryAt ?? Infinity
    if (this.limit !== '' && (at > this.retryAt || (at === this.retryAt && rule >= this.limit))) return
    this.retryAt = at
    this.limit = rule
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
        rule: this.limit,
        compared: { limitedAttempts: this.limitedCount, ...(this.retryAt < Infinity && { retryAtMs: this.retryAt }) },
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
