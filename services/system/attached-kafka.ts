import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { BusFault, BusSubscription, MessageBus } from '../../domain/ports/message-bus.ts'
import { fileCheckpoint } from '../../infra/file/checkpoint.ts'
import { Rest } from '../../infra/host/rest.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import type { KafkaPlace } from '../../infra/kafka/place.ts'
import { busIngest, ingestTopicPlans } from '../ingest/bus-ingest.ts'
import type { FactIntake } from '../ingest/fact-intake.ts'
import { decisionOutbox, decisionsTopic, type Outbox } from '../publish/decision-outbox.ts'

export interface AttachingKafka {
  readonly place: KafkaPlace
  readonly cell: string
  /** Keeps how far decisions have been published. */
  readonly folder: string
  readonly log: EventLog
  readonly intake: FactIntake
}

interface InTheWay {
  readonly reason: string
  readonly mend: string
}

/** Of topics that are made here; those that are there stay as they are. */
const partitionsDefault = 6
const againAfterMs = 5_000

/** Facts from Kafka to the log, and decisions from the log to Kafka. */
export class AttachedKafka {
  private readonly parts: AttachingKafka
  private readonly bus: MessageBus
  private readonly outbox: Outbox
  private readonly faults = new Map<'read' | 'record' | 'publish', InTheWay>()
  private subscription: BusSubscription | null = null
  private stopped = false
  private readonly rest = new Rest()
  private readonly reading: Promise<void>

  private constructor(parts: AttachingKafka, bus: MessageBus) {
    this.parts = parts
    this.bus = bus
    this.outbox = decisionOutbox({
      bus,
      log: parts.log,
      checkpoint: fileCheckpoint(join(parts.folder, 'decisions-published')),
      failing: this.telling('publish', 'see to the broker; what is decided is published when it can be'),
    })
    this.reading = this.read()
  }

  /** Makes the topics that are not there. */
  static async open(parts: AttachingKafka): Promise<E.Either<BusFault, AttachedKafka>> {
    const bus = kafkaMessageBus(parts.place)
    const topics = [...ingestTopicPlans(partitionsDefault), { topic: decisionsTopic, partitions: partitionsDefault }]
    const ensured = await bus.ensure(topics)()
    if (E.isRight(ensured)) return E.right(new AttachedKafka(parts, bus))
    await bus.close()
    return ensured
  }

  /** What is in the way just now; null: nothing is. */
  get fault(): InTheWay | null {
    for (const fault of this.faults.values()) return fault
    return null
  }

  /** Takes nothing more; resolves when what is in hand has been recorded and published. */
  async stop(): Promise<void> {
    this.stopped = true
    this.rest.end()
    await this.subscription?.stop()
    await this.reading
    await this.outbox.stop()
    await this.bus.close()
  }

  /** A fault that ends the reading may be mended by somebody: it is tried again. */
  private async read(): Promise<void> {
    const { cell, intake, place } = this.parts
    const tell = this.telling('read', 'see to the broker and to what it lets us do')
    while (!this.stopped) {
      this.subscription = busIngest({
        bus: this.bus,
        intake,
        group: `leasehold-${cell}`,
        ...(place.gatherMaxMs !== null && { gatherMaxMs: place.gatherMaxMs }),
        interrupted: tell,
        failing: this.telling('record', 'see to the log; facts stay on the bus meanwhile'),
      })
      try {
        await this.subscription.ended
      } catch (cause) {
        tell(cause as BusFault | Error)
        await this.rest.for(againAfterMs)
      }
    }
  }

  private telling(what: 'read' | 'record' | 'publish', mend: string) {
    return (fault: InTheWay | Error | null): void => {
      if (fault === null) this.faults.delete(what)
      else this.faults.set(what, 'mend' in fault ? fault : { reason: fault.message, mend })
    }
  }
}
