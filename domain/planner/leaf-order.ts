import type { EpochMs } from '../kernel/units.ts'
import { classesOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { ClassPolicy } from '../policy/budget-policy.ts'
import type { Books } from './books.ts'
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

  isBefore(a: Workload, b: Workload): boolean {
    const rise = this.priority(a) - this.priority(b)
    return rise !== 0 ? rise > 0 : a.seq < b.seq
  }

  priority(workload: Workload): number {
    return (this.classes.get(workload.class)?.priority ?? 0) + this.aged(workload)
  }

  /** How much higher it counts because it has waited. */
  aged({ class: kind, submittedAt }: Workload): number {
    const agingMs = this.classes.get(kind)?.agingMs ?? null
    return agingMs === null ? 0 : Math.max(0, Math.floor((this.at - submittedAt) / agingMs))
  }
}

/** Those who go before a workload within its person's part of its leaf. */
export interface Ahead {
  readonly count: number
  /** The first of them, in order. */
  readonly first: ReadonlyArray<Workload>
}

/** O(lines of the person), and what is named; nothing is scanned. */
export const aheadOf = (books: Books, order: LeafOrder, workload: Workload, namedMax: number): Ahead => {
  const { account } = workload
  if (account === null) return { count: 0, first: [] }
  let count = 0
  let isMixed = false
  const fronts: Workload[] = []
  for (const line of books.lines.get(account.node) ?? []) {
    // In its own line all are of its class, and those before it have waited no less.
    const before =
      line === workload.line
        ? line.countBefore(workload)
        : line.countWhile((member) => order.isBefore(member, workload))
    if (before === 0) continue
    count += before
    isMixed ||= fronts.length > 0
    for (let i = 0, one = line.first; i < Math.min(before, namedMax) && one !== null; i++) {
      fronts.push(one)
      one = line.atOrAfter(one.slot + 1)
    }
  }
  if (!isMixed) return { count, first: fronts }
  fronts.sort((a, b) => (order.isBefore(a, b) ? -1 : 1))
  return { count, first: fronts.slice(0, namedMax) }
}
