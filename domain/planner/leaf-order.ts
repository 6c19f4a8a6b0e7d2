import type { EpochMs } from '../kernel/units.ts'
import { classesOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { ClassPolicy } from '../policy/budget-policy.ts'
import type { Workload } from './workload.ts'

/** Who goes first within a leaf: the higher class, as it has aged, then the older. */
export class LeafOrder {
  private readonly classes: ReadonlyMap<string, ClassPolicy>
  private readonly at: EpochMs

  constructor(classes: ReadonlyMap<string, ClassPolicy>, at: EpochMs) {
    this.classes = classes
    this.at = at
  }

  static of(policy: AllocationPolicy, at: EpochMs): LeafOrder {
    return new LeafOrder(classesOf(policy), at)
  }

  /** Whether waiting makes a difference. */
  get ages(): boolean {
    for (const { agingMs } of this.classes.values()) if (agingMs !== null) return true
    return false
  }

  isBefore(a: Workload, b: Workload): boolean {
    const rise = this.priority(a) - this.priority(b)
    return rise !== 0 ? rise > 0 : a.seq < b.seq
  }

  priority(workload: Workload): number {
    return (this.classes.get(workload.class)?.priority ?? 0) + this.aged(workload)
  }

  /** The same order at another time. */
  then(at: EpochMs): LeafOrder {
    return new LeafOrder(this.classes, at)
  }

  /** How much higher it counts because it has waited. */
  aged({ class: kind, submittedAt }: Workload): number {
    const agingMs = this.classes.get(kind)?.agingMs ?? null
    return agingMs === null ? 0 : Math.max(0, Math.floor((this.at - submittedAt) / agingMs))
  }
}
