/** Ids that are remembered: more than all requests together look up before they hand over. */
const recentMax = 32_768

/**
 * The last ids that were taken. A request looks its ids up in the log and hands them over a moment later; what another
 * has handed over in between is found here. What slips through all the same the log itself refuses.
 */
export class RecentIds {
  private ids = new Set<string>()
  /** Those before: dropped together, since a set whose oldest are deleted one by one is searched ever longer for the next. */
  private older = new Set<string>()

  has(id: string): boolean {
    return this.ids.has(id) || this.older.has(id)
  }

  add(id: string): void {
    this.ids.add(id)
    if (this.ids.size < recentMax) return
    this.older = this.ids
    this.ids = new Set()
  }

  clear(): void {
    this.ids.clear()
    this.older.clear()
  }
}
