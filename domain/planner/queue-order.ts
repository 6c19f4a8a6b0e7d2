import type { EpochMs } from '../kernel/units.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { KueueUsage } from './kueue-usage.ts'
import { LeafOrder } from './leaf-order.ts'
import type { Workload } from './workload.ts'

/** Who goes first within a queue whose quota is shared: by class and age, behind what its team has used where that counts. */
export class QueueOrder {
  readonly byClass: LeafOrder
  private readonly usage: KueueUsage | null
  private readonly at: EpochMs

  /** @param usage as of the same instant; null: it does not count */
  constructor(policy: AllocationPolicy, usage: KueueUsage | null, at: EpochMs) {
    this.byClass = LeafOrder.of(policy, at)
    this.usage = usage
    this.at = at
  }

  isBefore(a: Workload, b: Workload): boolean {
    if (this.usage === null) return this.byClass.isBefore(a, b)
    return this.usage.compare(a, b, (workload) => this.byClass.priority(workload)) < 0
  }

  /** From when on waiting alone may have changed it; Infinity: it makes no difference. */
  get changesAt(): number {
    return Math.min(this.byClass.ages ? this.at + 1 : Infinity, this.usage?.changesAt ?? Infinity)
  }
}
