import { bucketColumns, column, windowColumns } from './bucket.ts'

/** How many hours in a row are the same, and what each of them holds, by column. */
export type HourRun = readonly [hours: number, ...amounts: number[]]

export interface WindowSnapshot {
  /** Oldest first. */
  readonly runs: ReadonlyArray<HourRun>
  readonly earlier: ReadonlyArray<number>
  readonly open: ReadonlyArray<number>
}

/** Sums of hours are kept in two parts, so that they stay exact: in such units, and what is left. */
const sumUnit = 2 ** 26
const runColumns = 1 + windowColumns

/**
 * What one node was owed and charged over the window: closed hours, and the open one. A change of policy closes a
 * bucket within the hour; its parts leave the window together. The sums of the closed hours are kept, so that reading
 * costs the same however long the window is; hours in a row that are the same take the place of one.
 */
export class BudgetWindow {
  /** The bucket that is open, by column. */
  readonly open = new Float64Array(bucketColumns)
  /** Buckets of the open hour that are closed. */
  private readonly earlier = new Float64Array(windowColumns)
  /** Runs of closed hours from `first` up to `end`, oldest first: how many hours, then what each holds. */
  private runs = new Float64Array(2 * runColumns)
  private first = 0
  private end = 0
  /** Closed hours in all. */
  private hours = 0
  /** No run before this one has credit left. */
  private creditFrom = 0
  /** Over the closed hours, by column: whole units first, then the rests. */
  private readonly sums = new Float64Array(2 * windowColumns)

  /** Over the window, exactly. Not for credit. */
  total(of: number): bigint {
    return this.exact(of, this.earlier[of]! + this.open[of]!)
  }

  /** Over the window, to 15 digits; 0 only for 0. */
  rounded(of: number): number {
    return this.closed(of) + (this.earlier[of]! + this.open[of]!)
  }

  /** Yield credit before its cap. */
  credit(): bigint {
    const credit = this.exact(column.credit, this.earlier[column.credit]!)
    const net = credit + BigInt(this.openCredit() - this.open[column.unallocated]!)
    return net > 0n ? net : 0n
  }

  /** Nothing was held or owed in it. */
  isEmpty(): boolean {
    return [column.owed, column.held, column.charged].every((of) => this.rounded(of) === 0)
  }

  /** Closes the open bucket within its hour. What it took beyond its entitlement comes off the oldest credit first. */
  closeBucket(): void {
    const { open, earlier } = this
    const spent = this.spend(open[column.unallocated]!)
    const credit = earlier[column.credit]! + this.openCredit() - spent
    for (let of = 0; of < windowColumns; of++) earlier[of]! += open[of]!
    earlier[column.credit] = Math.max(0, credit)
    open.fill(0)
  }

  /** The hour ends; what is older than `hours` closed ones leaves the window. */
  closeHour(hours: number): void {
    this.closeBucket()
    if (hours > 0) this.push(1, this.earlier)
    this.keep(hours)
    this.earlier.fill(0)
  }

  /** Lets go of all but the newest closed hours. */
  keep(hours: number): void {
    while (this.hours > hours) {
      const run = this.first * runColumns
      const gone = Math.min(this.hours - hours, this.runs[run]!)
      for (let of = 0; of < windowColumns; of++) this.addToSum(of, this.runs[run + 1 + of]!, -gone)
      this.hours -= gone
      this.runs[run]! -= gone
      if (this.runs[run] === 0) this.first++
    }
    this.creditFrom = Math.max(this.creditFrom, this.first)
  }

  toJSON(): WindowSnapshot {
    const runs: [number, ...number[]][] = []
    for (let i = this.first; i < this.end; i++) {
      const [hours = 0, ...amounts] = this.runs.subarray(i * runColumns, (i + 1) * runColumns)
      const last = runs.at(-1)
      if (last !== undefined && amounts.every((amount, of) => amount === last[of + 1])) last[0] += hours
      else runs.push([hours, ...amounts])
    }
    return { runs, earlier: [...this.earlier], open: [...this.open] }
  }

  static restore({ runs, earlier, open }: WindowSnapshot): BudgetWindow {
    const window = new BudgetWindow()
    for (const [hours, ...amounts] of runs) window.push(hours, Float64Array.from(amounts))
    window.earlier.set(earlier)
    window.open.set(open)
    return window
  }

  private openCredit(): number {
    return this.open[column.entitled]! - this.open[column.owed]!
  }

  private closed(of: number): number {
    return this.sums[of]! * sumUnit + this.sums[windowColumns + of]!
  }

  private exact(of: number, more: number): bigint {
    const rounded = this.closed(of) + more
    if (rounded <= Number.MAX_SAFE_INTEGER) return BigInt(rounded)
    return BigInt(this.sums[of]!) * BigInt(sumUnit) + BigInt(this.sums[windowColumns + of]!) + BigInt(more)
  }

  private addToSum(of: number, amount: number, times: number): void {
    const units = Math.floor(amount / sumUnit)
    this.sums[of]! += units * times
    this.sums[windowColumns + of]! += (amount - units * sumUnit) * times
  }

  /** Takes so much off the credit of the closed hours, oldest first. @returns what they did not have */
  private spend(amount: number): number {
    let left = amount
    while (left > 0 && this.creditFrom < this.end) {
      const run = this.creditFrom * runColumns
      const hours = this.runs[run]!
      const each = this.runs[run + 1 + column.credit]!
      const emptied = each === 0 ? hours : Math.min(hours, (left - (left % each)) / each)
      if (emptied < hours) this.split(this.creditFrom, emptied > 0 ? emptied : 1)
      const taken = emptied > 0 ? each : left
      this.takeCredit(this.creditFrom, taken)
      left -= taken * Math.max(1, emptied)
      if (emptied > 0) this.creditFrom++
    }
    return left
  }

  /** Off the credit of each hour of a run. */
  private takeCredit(run: number, amount: number): void {
    const at = run * runColumns
    this.runs[at + 1 + column.credit]! -= amount
    this.addToSum(column.credit, amount, -this.runs[at]!)
  }

  /** Makes a run of its own of the first hours of one. */
  private split(run: number, hours: number): void {
    if (this.runs[run * runColumns] === hours) return
    const at = this.makeRoom(run)
    this.runs.copyWithin((at + 1) * runColumns, at * runColumns, this.end * runColumns)
    this.end++
    this.runs[at * runColumns] = hours
    this.runs[(at + 1) * runColumns]! -= hours
  }

  private push(hours: number, amounts: Float64Array): void {
    const { runs, end } = this
    for (let of = 0; of < windowColumns; of++) this.addToSum(of, amounts[of]!, hours)
    this.hours += hours
    const last = (end - 1) * runColumns
    if (end > this.first && amounts.every((amount, of) => amount === runs[last + 1 + of])) {
      runs[last]! += hours
      return
    }
    this.makeRoom(end)
    this.runs[this.end * runColumns] = hours
    this.runs.set(amounts, this.end * runColumns + 1)
    this.end++
  }

  /** For one more run. @returns where the given one is then */
  private makeRoom(run: number): number {
    if ((this.end + 1) * runColumns <= this.runs.length) return run
    const kept = this.runs.subarray(this.first * runColumns, this.end * runColumns)
    const isHalfEmpty = 2 * kept.length <= this.runs.length
    const runs = isHalfEmpty ? this.runs : new Float64Array(2 * this.runs.length)
    runs.set(kept)
    this.runs = runs
    const moved = this.first
    this.first = 0
    this.end -= moved
    this.creditFrom -= moved
    return run - moved
  }
}
