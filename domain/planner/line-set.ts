import type { Shape } from '../fleet/shape.ts'
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
      line = new Line(workload.shape, key, kindsOfStart(workload.class, sizeClassOf(workload.shape)))
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

/** Kinds of work that are served side by side, from fine to coarse: class and power of two of its devices, class, any. */
export const kindsOfStart = (kind: string, size: number): readonly [fine: string, byClass: string, any: string] => [
  `${size} ${kind}`,
  kind,
  '',
]

/** Power of two of its devices. */
export const sizeClassOf = ({ request: { devices } }: Shape): number => 31 - Math.clz32(Math.max(1, devices))
