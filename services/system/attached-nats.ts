import { either as E } from 'fp-ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { Lease } from '../../domain/ports/cell-lease.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandSink } from '../../domain/ports/command-sink.ts'
import { natsCellLease } from '../../infra/nats/cell-lease.ts'
import { natsCommandSink } from '../../infra/nats/command-sink.ts'
import { NatsLink } from '../../infra/nats/link.ts'
import { natsOutcomeSource } from '../../infra/nats/outcome-source.ts'
import type { NatsPlace } from '../../infra/nats/place.ts'
import { natsResponder } from '../../infra/nats/requests.ts'
import type { LocalDesk } from '../api/local-desk.ts'
import { answerRequests } from '../api/rpc.ts'
import { HeldLease } from '../decide/held-lease.ts'
import type { FactIntake } from '../ingest/fact-intake.ts'
import { decodedLine } from '../ingest/ingest.ts'

export interface AttachingNats {
  readonly place: NatsPlace
  readonly cell: string
  /** The same after a restart. */
  readonly holder: string
  readonly waiting: (by: Lease) => void
  readonly lost: (by: Lease | null) => void
  /** Whoever waits for the lease gives up. */
  readonly signal: AbortSignal
}

/** A system's connection to NATS: under the lease of its cell it sends commands, takes what adapters tell and answers questions. */
export class AttachedNats {
  private readonly link: NatsLink
  private readonly lease: HeldLease
  private readonly cell: string
  private readonly deliveries: BusDelivery[] = []

  private constructor(link: NatsLink, lease: HeldLease, cell: string) {
    this.link = link
    this.lease = lease
    this.cell = cell
  }

  /** Resolves when the cell's lease is held; null: it was given up. */
  static async open({ place, ...holding }: AttachingNats): Promise<E.Either<BusUnavailable, AttachedNats | null>> {
    const link = await NatsLink.open(place)()
    if (E.isLeft(link)) return link
    const lease = await HeldLease.acquire({ leases: natsCellLease(link.right), ...holding })
    if (E.isRight(lease) && lease.right !== null)
      return E.right(new AttachedNats(link.right, lease.right, holding.cell))
    await link.right.close()
    return E.isLeft(lease) ? lease : E.right(null)
  }

  /** Why something is not sent or not taken just now; null: nothing is in the way. */
  get fault(): BusUnavailable | null {
    return this.link.fault ?? this.deliveries.find(({ fault }) => fault !== null)?.fault ?? null
  }

  sink(adapter: string, clock: Clock): CommandSink {
    return natsCommandSink(this.link, adapter, clock)
  }

  takeOutcomes(intake: FactIntake): void {
    this.deliveries.push(
      natsOutcomeSource(this.link).subscribe(this.cell, (lines) =>
        intake.decided(lines.map((line) => decodedLine({ text: line })))(),
      ),
    )
  }

  answer(desk: LocalDesk): void {
    this.deliveries.push(...answerRequests(desk, natsResponder(this.link)))
  }

  /** Takes nothing more. */
  async stopTaking(): Promise<void> {
    await Promise.all(this.deliveries.splice(0).map((delivery) => delivery.stop()))
  }

  /** Lets go of the lease. */
  async close(): Promise<void> {
    await this.lease.release()
    await this.link.close()
  }
}
