import { bucketColumns, column, windowColumns } from './bucket.ts'

/** Hours of the window that a snapshot writes once: how many of them in a row are the same, and what they hold. */
export type HourRun = readonly [count: number, ...amounts: number[]]

export interface WindowSnapshot {
  /** Oldest first; columns of the window. */
  readonly hours: ReadonlyArray<HourRun>
  readonly earlier: ReadonlyArray<number>
  readonly open: ReadonlyArray<number>
}

/**
 * What one node was owed and charged over the window: closed hours, and the open one. A change of policy closes a
 * bucket within the hour; its parts leave the window together. The sums of the closed hours are kept, so that reading
 * costs the same however long the window is.
 */
export class BudgetWindow {
  /** The bucket that is open, by column. */
  readonly open = new Float64Array(bucketColumns)
  /** Buckets of the open hour that are closed. */
  private readonly earlier = new Float64Array(windowColumns)
  /** Closed hours, a row each, round a circle of `size` rows. */
  private closed = new Float64Array(0)
  private size = 0
  private first = 0
  private count = 0
  /** No closed hour before this one, counted from the oldest, has credit left. */
  private creditFrom = 0
  private readonly sums: bigint[] = new Array<bigint>(windowColumns).fill(0n)
  /** The same, rounded. */
  private readonly roundedSums = new Float64Array(windowColumns)

  /** Over the window, exactly. Not for credit. */
  total(of: number): bigint {
    return this.sums[of]! + BigInt(this.earlier[of]! + this.open[of]!)
  }

  /** Over the window, to 15 digits; 0 only for 0. */
  rounded(of: number): number {
    return this.roundedSums[of]! + (this.earlier[of]! + this.open[of]!)
  }

  /** Yield credit before its cap. */
  credit(): bigint {
    const net = BigInt(this.openCredit() - this.open[column.unallocated]!)
    const credit = this.sums[column.credit]! + BigInt(this.earlier[column.credit]!) + net
    return credit > 0n ? credit : 0n
  }

  /** Nothing was held or owed in it. */
  isEmpty(): boolean {
    return [column.owed, column.held, column.charged].every((of) => this.rounded(of) === 0)
  }

  /** Closes the open bucket within its hour. What it took beyond its entitlement comes off the oldest credit first. */
  closeBucket(): void {
    const { open, earlier } = this
    let spent = open[column.unallocated]!
    for (; spent > 0 && this.creditFrom < this.count; this.creditFrom++) {
      const at = this.rowOf(this.creditFrom) + column.credit
      const taken = Math.min(spent, this.closed[at]!)
      this.closed[at]! -= taken
      this.addToSum(column.credit, -taken)
      spent -= taken
      if (this.closed[at]! > 0) break
    }
    const credit = earlier[column.credit]! + this.openCredit()
    for (let of = 0; of < windowColumns; of++) earlier[of]! += open[of]!
    earlier[column.credit] = Math.max(0, credit - spent)
    open.fill(0)
  }

  /** The hour ends; what is older than `hours` closed ones leaves the window. */
  closeHour(hours: number): void {
    this.closeBucket()
    this.keep(hours - 1)
    if (hours > 0) this.push(hours)
    this.earlier.fill(0)
  }

  /** Lets go of all but the newest closed hours. */
  keep(hours: number): void {
    for (; this.count > Math.max(0, hours); this.count--) {
      const row = this.rowOf(0)
      for (let of = 0; of < windowColumns; of++) this.addToSum(of, -this.closed[row + of]!)
      this.first = (this.first + 1) % this.size
      this.creditFrom = Math.max(0, this.creditFrom - 1)
    }
  }

  toJSON(): WindowSnapshot {
    const hours: [number, ...number[]][] = []
    for (let hour = 0; hour < this.count; hour++) {
      const row = this.rowOf(hour)
      const amounts = [...this.closed.subarray(row, row + windowColumns)]
      const run = hours.at(-1)
      if (run !== undefined && amounts.every((amount, of) => amount === run[of + 1])) run[0]++
      else hours.push([1, ...amounts])
    }
    return { hours, earlier: [...this.earlier], open: [...this.open] }
  }

  /** @param hours at least as many as the snapshot has */
  static restore(snapshot: WindowSnapshot, hours: number): BudgetWindow {
    const window = new BudgetWindow()
    for (const [count, ...amounts] of snapshot.hours)
      for (let i = 0; i < count; i++) {
        window.earlier.set(amounts)
        window.push(hours)
      }
    window.earlier.set(snapshot.earlier)
    window.open.set(snapshot.open)
    return window
  }

  private openCredit(): number {
    return this.open[column.entitled]! - this.open[column.owed]!
  }

  /** Makes a closed hour of `earlier`. */
  private push(hours: number): void {
    if (this.count === this.size) this.grow(Math.min(hours, Math.max(8, 2 * this.size)))
    const row = this.rowOf(this.count++)
    for (let of = 0; of < windowColumns; of++) {
      this.closed[row + of] = this.earlier[of]!
      this.addToSum(of, this.earlier[of]!)
    }
  }

  private grow(size: number): void {
    const closed = new Float64Array(size * windowColumns)
    for (let hour = 0; hour < this.count; hour++) {
      const row = this.rowOf(hour)
      closed.set(this.closed.subarray(row, row + windowColumns), hour * windowColumns)
    }
    this.closed = closed
    this.first = 0
    this.size = size
  }

  private rowOf(hour: number): number {
    return ((this.first + hour) % this.size) * windowColumns
  }

  private addToSum(of: number, amount: number): void {
    if (amount === 0) return
    this.sums[of]! += BigInt(amount)
    this.roundedSums[of] = Number(this.sums[of]!)
  }
}
