import { Line } from './line.ts'
import type { Workload } from './workload.ts'

/** What waits, by what is asked for and what makes a difference to whether it may start. */
export class LineSet {
  private readonly byKey = new Map<string | number, Line>()

  get size(): number {
    return this.byKey.size
  }

  /** Lines that have members, in order of first sight. */
  [Symbol.iterator](): Iterator<Line> {
    return this.byKey.values()
  }

  add(workload: Workload, key: string | number): Line {
    let line = this.byKey.get(key)
    if (line === undefined) {
      line = new Line(workload.shape, key)
      this.byKey.set(key, line)
    }
    line.add(workload)
    return line
  }

  remove(workload: Workload): void {
    const line = workload.line!
    line.remove(workload)
    if (line.size === 0) this.byKey.delete(line.key)
  }
}
