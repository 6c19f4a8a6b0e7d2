/** What a search asks of a node: a lower bound in each dimension; exact rules are checked at the node itself. */
export interface LeastCapacity {
  /** Largest free part of one device, thousandths. */
  readonly largestMilli: number
  /** Devices that are wholly free. */
  readonly wholeDevices: number
  /** Thousandths of a core. */
  readonly cpuMilli: number
  /** MiB of host memory. */
  readonly hostMemoryMib: number
}

const dimensions = 4

/**
 * Maxima over nodes in registration order, so that the first node that may hold a request is found in O(log nodes),
 * and that none can is known at the root. A node that takes nothing new holds -1 in every dimension.
 */
export class CapacityTree {
  private leaves = 1
  private maxima = new Float64Array(2 * dimensions).fill(-1)

  /** Makes room for `nodes` leaves; those that are new hold nothing. */
  grow(nodes: number): void {
    if (nodes <= this.leaves) return
    const before = this.leaves
    const old = this.maxima
    while (this.leaves < nodes) this.leaves *= 2
    this.maxima = new Float64Array(2 * this.leaves * dimensions).fill(-1)
    this.maxima.set(old.subarray(before * dimensions, 2 * before * dimensions), this.leaves * dimensions)
    for (let i = this.leaves - 1; i >= 1; i--) this.pullUp(i)
  }

  set(node: number, largestMilli: number, wholeDevices: number, cpuMilli: number, hostMemoryMib: number): void {
    const { maxima } = this
    const at = (node + this.leaves) * dimensions
    maxima[at] = largestMilli
    maxima[at + 1] = wholeDevices
    maxima[at + 2] = cpuMilli
    maxima[at + 3] = hostMemoryMib
    for (let i = (node + this.leaves) >> 1; i >= 1; i >>= 1) if (!this.pullUp(i)) return
  }

  /** First node from `from` on whose maxima reach `least`; -1 when there is none. */
  next(from: number, least: LeastCapacity): number {
    const { maxima, leaves } = this
    const { largestMilli, wholeDevices, cpuMilli, hostMemoryMib } = least
    if (from >= leaves) return -1
    let i = from + leaves
    for (;;) {
      const at = i * dimensions
      const holds =
        maxima[at]! >= largestMilli &&
        maxima[at + 1]! >= wholeDevices &&
        maxima[at + 2]! >= cpuMilli &&
        maxima[at + 3]! >= hostMemoryMib
      if (holds) {
        if (i >= leaves) return i - leaves
        i *= 2
        continue
      }
      while (i & 1) i >>= 1
      if (i === 0) return -1
      i += 1
    }
  }

  /** The most wholly free devices that one node has, over all nodes; -1 when no node takes anything. */
  get mostWholeDevices(): number {
    return this.maxima[dimensions + 1]!
  }

  /** The largest free part of one device over all nodes, thousandths. */
  get largestMilli(): number {
    return this.maxima[dimensions]!
  }

  copyFrom(other: CapacityTree): void {
    if (this.leaves !== other.leaves) {
      this.leaves = other.leaves
      this.maxima = other.maxima.slice()
    } else this.maxima.set(other.maxima)
  }

  /** Returns whether the maxima of `i` changed. */
  private pullUp(i: number): boolean {
    const { maxima } = this
    const at = i * dimensions
    const left = 2 * at
    const right = left + dimensions
    let changed = false
    for (let d = 0; d < dimensions; d++) {
      const l = maxima[left + d]!
      const r = maxima[right + d]!
      const most = l > r ? l : r
      if (maxima[at + d] !== most) {
        maxima[at + d] = most
        changed = true
      }
    }
    return changed
  }
}
