import { randomUUID } from 'node:crypto'
import { either as E, type taskEither as TE } from 'fp-ts'
import { NatsError, StorageType, type KV } from 'nats'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { CellLease, Lease, LeaseRefused } from '../../domain/ports/cell-lease.ts'
import { elapsedHere, LeaseSilence, type Elapsed } from '../host/lease-silence.ts'
import { faultOf } from './fault.ts'
import type { NatsLink } from './link.ts'
import { tokenOf } from './subject.ts'

/** The codes of an update that expected another revision than there was, by the server's version. */
const wrongRevision = [10_071, 10_164]
const attemptsMax = 3

/** Who holds each cell, in a key-value bucket: the fence of a lease is the revision of its entry. */
export const natsCellLease = (link: NatsLink, elapsed: Elapsed = elapsedHere): CellLease =>
  new NatsCellLease(link, elapsed)

/** `lease` null: somebody let go of it, or there was none yet. */
interface Entry {
  readonly lease: Lease | null
  readonly revision: number
}

class NatsCellLease implements CellLease {
  private readonly link: NatsLink
  private readonly silence: LeaseSilence
  private opened: Promise<KV> | null = null

  constructor(link: NatsLink, elapsed: Elapsed) {
    this.link = link
    this.silence = new LeaseSilence(elapsed)
  }

  acquire(cell: string, holder: string, ttlMs: DurationMs): TE.TaskEither<LeaseRefused, Lease> {
    return this.guarded(async () => {
      for (let attempt = 0; ; attempt++) {
        const { lease: by, revision } = await this.entry(cell)
        if (by !== null && by.holder !== holder && !this.silence.isSilent(by)) return E.left({ type: 'LeaseHeld', by })
        const put = await this.put({ cell, holder, ttlMs, token: randomUUID() }, revision)
        if (put !== null) return E.right(put)
        // Somebody was faster.
        if (attempt === attemptsMax) throw new Error(`the lease of ${cell} changes all the time`)
      }
    })
  }

  renew(lease: Lease): TE.TaskEither<LeaseRefused, Lease> {
    return this.guarded(async () => {
      const renewed = await this.put(lease, lease.fence)
      if (renewed !== null) return E.right(renewed)
      const { lease: by, revision } = await this.entry(lease.cell)
      // It was renewed before, and the answer was lost.
      const again = by?.token === lease.token ? await this.put(lease, revision) : null
      return again === null ? E.left({ type: 'LeaseLost', by }) : E.right(again)
    })
  }

  release(lease: Lease): TE.TaskEither<BusUnavailable, void> {
    return this.guarded<BusUnavailable, undefined>(async () => {
      const { lease: by, revision } = await this.entry(lease.cell)
      if (by?.token === lease.token) await this.update(lease.cell, 'null', revision)
      return E.right(undefined)
    })
  }

  current(cell: string): TE.TaskEither<BusUnavailable, Lease | null> {
    return this.guarded<BusUnavailable, Lease | null>(async () => E.right((await this.entry(cell)).lease))
  }

  private guarded<F, A>(work: () => Promise<E.Either<F | BusUnavailable, A>>): TE.TaskEither<F | BusUnavailable, A> {
    return async () => {
      if (this.link.fault !== null) return E.left(this.link.fault)
      try {
        return await work()
      } catch (cause) {
        this.opened = null
        return E.left(faultOf(this.link.place, cause))
      }
    }
  }

  private async entry(cell: string): Promise<Entry> {
    const found = await (await this.bucket()).get(tokenOf(cell))
    if (found === null) return { lease: null, revision: 0 }
    const { revision } = found
    const said = found.operation === 'PUT' ? (JSON.parse(found.string()) as Omit<Lease, 'fence'> | null) : null
    return { lease: said === null ? null : { ...said, fence: revision }, revision }
  }

  /** Null: the revision was another. */
  private async put({ cell, holder, token, ttlMs }: Omit<Lease, 'fence'>, revision: number): Promise<Lease | null> {
    const lease = { cell, holder, token, ttlMs }
    const fence = await this.update(cell, JSON.stringify(lease), revision)
    return fence === null ? null : { ...lease, fence }
  }

  private async update(cell: string, value: string, revision: number): Promise<number | null> {
    try {
      const bucket = await this.bucket()
      const key = tokenOf(cell)
      return revision === 0 ? await bucket.create(key, value) : await bucket.update(key, value, revision)
    } catch (cause) {
      if (cause instanceof NatsError && wrongRevision.includes(cause.api_error?.err_code ?? 0)) return null
      throw cause
    }
  }

  /** Made where there is none. */
  private bucket(): Promise<KV> {
    this.opened ??= this.link.jetStream.views.kv(`${this.link.place.prefix}_leases`, {
      history: 1,
      replicas: this.link.place.replicas,
      storage: StorageType.File,
      timeout: this.link.place.timeoutMs,
    })
    return this.opened
  }
}
