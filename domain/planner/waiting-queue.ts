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

  add(workload: Workload): Line {
    workload.previous = this.tail
    if (this.tail === null) this.head = workload
    else this.tail.next = workload
    this.tail = workload
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
