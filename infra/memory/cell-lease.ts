import { randomUUID } from 'node:crypto'
import { either as E, taskEither as TE } from 'fp-ts'
import type { CellLease, Lease, LeaseRefused } from '../../domain/ports/cell-lease.ts'
import { LeaseSilence, type Elapsed } from '../host/lease-silence.ts'

/** The leases of a place within one process, for tests. */
export class MemoryLeases {
  private readonly leases = new Map<string, Lease>()
  private fence = 0

  /** As one decider sees it, by its own clock. */
  seenBy(elapsed: Elapsed): CellLease {
    const silence = new LeaseSilence(elapsed)
    const put = (lease: Omit<Lease, 'fence'>): Lease => {
      const given = { ...lease, fence: ++this.fence }
      this.leases.set(given.cell, given)
      return given
    }
    const isOurs = ({ cell, token }: Lease) => this.leases.get(cell)?.token === token
    return {
      acquire: (cell, holder, ttlMs) => () => {
        const by = this.leases.get(cell)
        const isFree = by === undefined || by.holder === holder || silence.isSilent(by)
        return Promise.resolve(
          isFree ? E.right(put({ cell, holder, ttlMs, token: randomUUID() })) : E.left({ type: 'LeaseHeld', by }),
        )
      },
      renew: (lease) => () => {
        const refused: LeaseRefused = { type: 'LeaseLost', by: this.leases.get(lease.cell) ?? null }
        return Promise.resolve(isOurs(lease) ? E.right(put(lease)) : E.left(refused))
      },
      release: (lease) =>
        TE.fromIO(() => {
          if (isOurs(lease)) this.leases.delete(lease.cell)
        }),
      current: (cell) => TE.fromIO(() => this.leases.get(cell) ?? null),
    }
  }
}
