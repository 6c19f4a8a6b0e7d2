/** What admissions add to the usage of one sub-queue before they are counted in it: one debit per workload. */
export class PendingDebits {
  private readonly debits = new Map<string, ReadonlyArray<bigint>>()
  private readonly sums: bigint[]

  /** @param width number of resources */
  constructor(width: number) {
    this.sums = new Array<bigint>(width).fill(0n)
  }

  get pending(): boolean {
    return this.debits.size > 0
  }

  /** Shape [resources]. */
  get total(): ReadonlyArray<bigint> {
    return this.sums
  }

  /** Takes the place of one that the workload has already. */
  push(workload: string, amounts: ReadonlyArray<bigint>): void {
    this.withdraw(workload)
    this.debits.set(workload, amounts)
    this.count(amounts, 1n)
  }

  /** Exactly what was pushed; where there is none, nothing. */
  withdraw(workload: string): void {
    const amounts = this.debits.get(workload)
    if (amounts === undefined) return
    this.debits.delete(workload)
    this.count(amounts, -1n)
  }

  /** In order of the workloads' ids. */
  get entries(): ReadonlyArray<readonly [workload: string, amounts: ReadonlyArray<bigint>]> {
    return [...this.debits].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  private count(amounts: ReadonlyArray<bigint>, sign: bigint): void {
    for (let i = 0; i < this.sums.length; i++) this.sums[i]! += sign * amounts[i]!
  }
}
