import { either as E } from 'fp-ts'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { CellLease, Lease } from '../../domain/ports/cell-lease.ts'
import { Rest } from '../../infra/host/rest.ts'
import { within } from '../../infra/host/within.ts'

export interface Holding {
  readonly leases: CellLease
  readonly cell: string
  readonly holder: string
  readonly ttlMs?: DurationMs
  /** Told who has it, while somebody else does and it is waited for. */
  readonly waiting?: (by: Lease) => void
  /** Told that somebody else decides for the cell now, or did meanwhile. */
  readonly lost: (by: Lease | null) => void
  /** Whoever waits gives up. */
  readonly signal?: AbortSignal
}

const ttlDefaultMs = 15_000 as DurationMs
const releaseMaxMs = 2_000

/**
 * The lease of a cell, for as long as this process decides for it. While the bus is away it goes on: nobody else can take the lease
 * there either, and what keeps two from both writing is the log.
 */
export class HeldLease {
  private readonly holding: Holding
  private lease: Lease
  private readonly rest = new Rest()
  private released = false
  private readonly renewing: Promise<void>

  private constructor(holding: Holding, lease: Lease) {
    this.holding = holding
    this.lease = lease
    this.renewing = this.renew()
  }

  /** Waits until whoever has it falls silent or lets go. Null: it was given up. */
  static async acquire(holding: Holding): Promise<E.Either<BusUnavailable, HeldLease | null>> {
    const { cell, holder, leases, signal, ttlMs = ttlDefaultMs, waiting } = holding
    const rest = new Rest()
    signal?.addEventListener('abort', () => {
      rest.end()
    })
    let told: string | null = null
    while (signal?.aborted !== true) {
      const acquired = await leases.acquire(cell, holder, ttlMs)()
      if (E.isRight(acquired)) return E.right(new HeldLease(holding, acquired.right))
      const refused = acquired.left
      if (refused.type === 'BusUnavailable' && told === null) return E.left(refused)
      if (refused.type === 'LeaseHeld' && refused.by.holder !== told) {
        told = refused.by.holder
        waiting?.(refused.by)
      }
      await rest.for(ttlMs / 10)
    }
    return E.right(null)
  }

  /** Others need not wait for silence. */
  async release(): Promise<void> {
    this.released = true
    this.rest.end()
    await within(releaseMaxMs, this.renewing)
    await within(releaseMaxMs, this.holding.leases.release(this.lease)())
  }

  private async renew(): Promise<void> {
    const { leases, lost } = this.holding
    for (;;) {
      await this.rest.for(this.lease.ttlMs / 3)
      if (this.released) return
      const renewed = await leases.renew(this.lease)()
      if (E.isRight(renewed)) this.lease = renewed.right
      else if (renewed.left.type !== 'BusUnavailable') {
        this.released = true
        lost(renewed.left.by)
        return
      }
    }
  }
}
