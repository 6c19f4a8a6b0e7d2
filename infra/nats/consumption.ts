import { AckPolicy, DeliverPolicy, NatsError, nanos, type ConsumerMessages, type JsMsg } from 'nats'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import { faultOf } from './fault.ts'
import { Rest } from '../host/rest.ts'
import type { NatsLink } from './link.ts'
import { streamName, type StreamKind } from './streams.ts'

export interface Consuming {
  readonly stream: StreamKind
  /** Of the consumer that the server keeps, so that another process goes on where this one ended. */
  readonly durable: string
  readonly filter: string
  /** Messages in hand at once. */
  readonly inHandMax: number
  /** A message that is not heard of for so long is delivered again. */
  readonly ackWaitMs: number
  /** Given each message as it comes, and not waited for. Whoever has one in hand says so with `working`. */
  readonly take: (message: JsMsg) => void
}

const expiresMs = 5_000
const heartbeatMs = 1_000
const backOffMinMs = 100
const backOffMaxMs = 5_000

/** Takes from a stream for as long as nobody stops it. A consumer or a stream that is gone is made again. */
export class Consumption implements BusDelivery {
  private readonly link: NatsLink
  private readonly consuming: Consuming
  private failing: BusUnavailable | null = null
  private stopped = false
  private messages: ConsumerMessages | null = null
  private readonly rest = new Rest()
  private readonly running: Promise<void>

  constructor(link: NatsLink, consuming: Consuming) {
    this.link = link
    this.consuming = consuming
    this.running = this.run()
    // The client would look for its consumer for ever.
    void link.connection.closed().then(() => this.stop())
  }

  get fault(): BusUnavailable | null {
    return this.link.fault ?? this.failing
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.rest.end()
    await this.messages?.close()
    await this.running
  }

  private async run(): Promise<void> {
    for (let waitMs = backOffMinMs; !this.stopped; waitMs = Math.min(2 * waitMs, backOffMaxMs)) {
      try {
        await this.consume(() => (waitMs = backOffMinMs))
      } catch (cause) {
        this.failing = faultOf(this.link.place, cause)
        this.link.forget(this.consuming.stream)
      }
      await this.rest.for(waitMs)
    }
  }

  /** It may have been stopped while something was waited for. */
  private isStopped(): boolean {
    return this.stopped
  }

  private async consume(taken: () => void): Promise<void> {
    const { durable, inHandMax, stream, take } = this.consuming
    await this.link.ensure(stream)
    await this.ensureConsumer()
    const consumer = await this.link.jetStream.consumers.get(streamName(this.link.place, stream), durable)
    if (this.stopped) return
    this.messages = await consumer.consume({
      max_messages: inHandMax,
      expires: expiresMs,
      idle_heartbeat: heartbeatMs,
      abort_on_missing_resource: true,
    })
    this.failing = null
    try {
      if (this.isStopped()) return
      for await (const message of this.messages) {
        taken()
        take(message)
      }
    } finally {
      await this.messages.close()
      this.messages = null
    }
  }

  private async ensureConsumer(): Promise<void> {
    const { ackWaitMs, durable, filter, inHandMax, stream } = this.consuming
    const name = streamName(this.link.place, stream)
    const { consumers } = this.link.manager
    try {
      await consumers.info(name, durable)
    } catch (cause) {
      if (!(cause instanceof NatsError) || cause.api_error?.err_code !== consumerNotFound) throw cause
      await consumers.add(name, {
        durable_name: durable,
        filter_subject: filter,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: nanos(ackWaitMs),
        // Counted by whoever takes them: the server would leave what it gives up in the stream, and tell nobody who keeps it.
        max_deliver: -1,
        max_ack_pending: inHandMax,
      })
    }
  }
}

const consumerNotFound = 10_014
