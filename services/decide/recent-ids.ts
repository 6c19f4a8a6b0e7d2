/** Ids that are remembered: more than all requests together look up before they hand over. */
const recentMax = 32_768

/**
 * The last ids that were taken. A request looks its ids up in the log and hands them over a moment later; what another
 * has handed over in between is found here. What slips through all the same the log itself refuses.
 */
export class RecentIds {
  private readonly ids = new Set<string>()

  has(id: string): boolean {
    return this.ids.has(id)
  }

  add(id: string): void {
    this.ids.add(id)
    if (this.ids.size <= recentMax) return
    for (const oldest of this.ids) {
      this.ids.delete(oldest)
      break
    }
  }

  clear(): void {
    this.ids.clear()
  }
}
