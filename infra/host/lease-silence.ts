import type { Lease } from '../../domain/ports/cell-lease.ts'

/** Milliseconds on a clock that nobody sets. */
export type Elapsed = () => number

export const elapsedHere: Elapsed = () => performance.now()

/** How long nothing has changed about leases that others hold, as seen from here. */
export class LeaseSilence {
  private readonly elapsed: Elapsed
  private readonly seen = new Map<string, { readonly fence: number; readonly since: number }>()

  constructor(elapsed: Elapsed) {
    this.elapsed = elapsed
  }

  /** Whether the lease has been as it is now for as long as it may be without being renewed. */
  isSilent({ cell, fence, ttlMs }: Lease): boolean {
    const seen = this.seen.get(cell)
    if (seen?.fence === fence) return this.elapsed() - seen.since >= ttlMs
    this.seen.set(cell, { fence, since: this.elapsed() })
    return false
  }
}
