import type { Ordering } from '../policy/allocation-policy.ts'
import { LineSet } from './line-set.ts'
import type { Workload } from './workload.ts'

/** What waits in one queue of the policy, in order of submission. */
export class WaitingQueue {
  readonly name: string
  ordering: Ordering
  /** Its place in the policy document. */
  index: number
  head: Workload | null = null
  private tail: Workload | null = null
  private count = 0
  /** By shape; empty where the policy's sharing keeps lines of its own. */
  readonly lines = new LineSet()

  constructor(name: string, ordering: Ordering, index: number) {
    this.name = name
    this.ordering = ordering
    this.index = index
  }

  get size(): number {
    return this.count
  }

  /** By order of submission: what comes back, because its attempt was stopped, stands where it stood. */
  add(workload: Workload): void {
    let before = this.tail
    while (before !== null && before.seq > workload.seq) before = before.previous
    const after = before === null ? this.head : before.next
    workload.previous = before
    workload.next = after
    if (before === null) this.head = workload
    else before.next = workload
    if (after === null) this.tail = workload
    else after.previous = workload
    this.count++
  }

  remove(workload: Workload): void {
    const { previous, next } = workload
    if (previous === null) this.head = next
    else previous.next = next
    if (next === null) this.tail = previous
    else next.previous = previous
    workload.previous = workload.next = null
    this.count--
  }

  /** How many stand before it. */
  ahead(workload: Workload): number {
    let count = 0
    for (let one = workload.previous; one !== null; one = one.previous) count++
    return count
  }
}
