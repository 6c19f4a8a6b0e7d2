import { setTimeout as wait } from 'node:timers/promises'
import { either as E } from 'fp-ts'
import { Partitioners, type Kafka, type Message, type Producer, type TopicMessages } from 'kafkajs'
import type { BusFault, BusMessage } from '../../domain/ports/message-bus.ts'
import { retry } from './client.ts'
import { faultOf, isPassing, wantsNewProducer } from './fault.ts'

interface Waiting {
  readonly topic: string
  readonly messages: ReadonlyArray<BusMessage>
  readonly settle: (sent: E.Either<BusFault, void>) => void
  /** When it is given up. */
  readonly until: number
}

/** What waits to be sent, at most; more is refused until some of it is. */
const waitingMessagesMax = 50_000
/** What goes in one request, unless one call alone brings more. */
const requestMessagesMax = 2_000
const requestBytesMax = 700_000
const backOffMs = 200

/**
 * Sends one request at a time, by an idempotent producer: with several on their way at once a broker that is killed leaves
 * messages twice, or sends that never succeed again. What is tried again is the same request, which the broker knows from
 * before if it has it. What waits together goes together.
 */
export class SendQueue {
  private readonly place: string
  private readonly open: () => Kafka
  private readonly publishMaxMs: number
  private readonly waiting: Waiting[] = []
  private waitingMessages = 0
  private producer: Producer | null = null
  private sending: Promise<void> | null = null
  private closed = false
  /** Producers that it has had. */
  producers = 0

  constructor(place: string, open: () => Kafka, publishMaxMs: number) {
    this.place = place
    this.open = open
    this.publishMaxMs = publishMaxMs
  }

  send(topic: string, messages: ReadonlyArray<BusMessage>): Promise<E.Either<BusFault, void>> {
    if (this.closed) return Promise.resolve(E.left(this.fault('closed', 'the bus has been closed', 'open it again')))
    if (messages.length === 0) return Promise.resolve(E.right(undefined))
    if (this.waitingMessages > 0 && this.waitingMessages + messages.length > waitingMessagesMax)
      return Promise.resolve(
        E.left(this.fault('busy', `${this.waitingMessages} messages wait to be sent`, 'send it again later')),
      )
    return new Promise((settle) => {
      this.waiting.push({ topic, messages, settle, until: performance.now() + this.publishMaxMs })
      this.waitingMessages += messages.length
      this.sending ??= this.run()
    })
  }

  /** What waits is sent first. */
  async close(): Promise<void> {
    this.closed = true
    await this.sending
    await this.leave()
  }

  private async run(): Promise<void> {
    // What else this turn brings goes along.
    await Promise.resolve()
    for (let together = this.next(); together.length > 0; together = this.next()) {
      const sent = await this.sendAll(together)
      if (E.isLeft(sent) && !isPassing(sent.left) && together.length > 1) {
        // One of them is at fault, and the others are not.
        for (const alone of together) alone.settle(await this.sendAll([alone]))
      } else for (const { settle } of together) settle(sent)
      for (const { messages } of together) this.waitingMessages -= messages.length
    }
    this.sending = null
  }

  /** Whole calls, in order, as many as fit into a request. */
  private next(): ReadonlyArray<Waiting> {
    let messages = 0
    let bytes = 0
    let count = 0
    for (const one of this.waiting) {
      messages += one.messages.length
      for (const { value } of one.messages) bytes += value?.length ?? 0
      if (count > 0 && (messages > requestMessagesMax || bytes > requestBytesMax)) break
      count++
    }
    return this.waiting.splice(0, count)
  }

  private async sendAll(together: ReadonlyArray<Waiting>): Promise<E.Either<BusFault, void>> {
    const topicMessages = requestOf(together)
    const until = Math.min(...together.map((one) => one.until))
    for (;;) {
      try {
        const producer = await this.connected()
        await producer.sendBatch({ topicMessages, acks: -1 })
        return E.right(undefined)
      } catch (cause) {
        const fault = faultOf(this.place, `publish to ${topicMessages.map(({ topic }) => topic).join(', ')}`, cause)
        const renew = wantsNewProducer(cause)
        if (renew) await this.leave()
        if ((!renew && !isPassing(fault)) || performance.now() + backOffMs > until) return E.left(fault)
        await wait(backOffMs)
      }
    }
  }

  private async connected(): Promise<Producer> {
    if (this.producer !== null) return this.producer
    const producer = this.open().producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry,
    })
    try {
      await producer.connect()
    } catch (cause) {
      await producer.disconnect().catch(() => undefined)
      throw cause
    }
    this.producers++
    this.producer = producer
    return producer
  }

  private async leave(): Promise<void> {
    const { producer } = this
    this.producer = null
    await producer?.disconnect().catch(() => undefined)
  }

  private fault(kind: BusFault['kind'], reason: string, mend: string): BusFault {
    return { type: 'BusFault', kind, reason: `${this.place}: ${reason}`, mend }
  }
}

/** The messages of each topic, in the order of the calls. */
const requestOf = (together: ReadonlyArray<Waiting>): TopicMessages[] => {
  const byTopic = new Map<string, Message[]>()
  for (const { messages, topic } of together) {
    const of = byTopic.get(topic) ?? []
    byTopic.set(topic, of)
    for (const { headers, key, value } of messages)
      of.push({ key, headers, value: value === null ? null : bufferOf(value) })
  }
  return [...byTopic].map(([topic, messages]) => ({ topic, messages }))
}

const bufferOf = (value: Uint8Array): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength)
