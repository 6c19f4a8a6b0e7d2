import type { Ordering } from '../policy/allocation-policy.ts'
import { Line } from './line.ts'
import type { Workload } from './workload.ts'

/** What waits in one queue of the policy: in order of submission, and by what is asked for. */
export class WaitingQueue {
  readonly name: string
  ordering: Ordering
  /** Its place in the policy document. */
  index: number
  head: Workload | null = null
  private tail: Workload | null = null
  private count = 0
  private readonly byShape = new Map<number, Line>()

  constructor(name: string, ordering: Ordering, index: number) {
    this.name = name
    this.ordering = ordering
    this.index = index
  }

  get size(): number {
    return this.count
  }

  /** Lines that have members, in order of first sight. */
  get lines(): Iterable<Line> {
    return this.byShape.values()
  }

  /** By order of submission: what comes back, because its attempt was stopped, stands where it stood. */
  add(workload: Workload): Line {
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
    let line = this.byShape.get(workload.shape.index)
    if (line === undefined) {
      line = new Line(workload.shape)
      this.byShape.set(workload.shape.index, line)
    }
    line.add(workload)
    return line
  }

  remove(workload: Workload): void {
    const { previous, next, line } = workload
    if (previous === null) this.head = next
    else previous.next = next
    if (next === null) this.tail = previous
    else next.previous = previous
    workload.previous = workload.next = null
    this.count--
    line!.remove(workload)
    if (line!.size === 0) this.byShape.delete(workload.shape.index)
  }

  /** How many stand before it. */
  ahead(workload: Workload): number {
    let count = 0
    for (let one = workload.previous; one !== null; one = one.previous) count++
    return count
  }
}
