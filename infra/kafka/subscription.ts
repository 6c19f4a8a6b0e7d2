import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { BusFault, BusSubscription, GroupReader, ReceivedMessage } from '../../domain/ports/message-bus.ts'
import { within } from '../host/within.ts'
import { coordinatorAnswer, retry } from './client.ts'
import { causesOf, faultOf, isPassing } from './fault.ts'
import { describePlace, type KafkaPlace } from './place.ts'

/** A member that is gone keeps its partitions from the others for so long. */
export const sessionMs = 6_000
const heartbeatMs = 1_500
/** How long a fetch waits for something to come: leaving waits for it too, and what comes does not. */
const fetchWaitMs = 250
const fetchBytesMax = 8_388_608
const partitionBytesMax = 1_048_576
/** Partitions that one member may have in hand at once. */
const partitionsMax = 256
const backOffMinMs = 100
const backOffMaxMs = 5_000
const leaveMaxMs = 10_000

type Ending = { readonly stopped: true } | { readonly error: unknown }

/**
 * Reads as a member of a group for as long as nobody stops it. The client's own restarts are not relied upon: it takes some
 * errors of a broker that is down for final and falls silent. So each consumer is let go at its first crash, and a new one joins.
 */
export class KafkaSubscription implements BusSubscription {
  readonly ended: Promise<void>
  private readonly place: KafkaPlace
  private readonly open: () => Kafka
  private readonly reader: GroupReader
  private readonly rebalanceMaxMs: number
  private readonly stopping = new AbortController()
  /** Counts how often partitions were dealt out: what was begun before commits nothing after. */
  private deal = 0
  private readonly inHand = new Map<string, Promise<unknown>>()
  private waitMs = backOffMinMs
  private interruption = false

  constructor(place: KafkaPlace, open: () => Kafka, reader: GroupReader, rebalanceMaxMs: number) {
    this.place = place
    this.open = open
    this.reader = reader
    this.rebalanceMaxMs = rebalanceMaxMs
    setMaxListeners(0, this.stopping.signal) // One for each wait.
    this.ended = this.run()
    this.ended.catch(() => undefined)
  }

  readonly stop = async (): Promise<void> => {
    this.stopping.abort()
    await this.ended.catch(() => undefined)
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const ending = await this.consume()
      if ('stopped' in ending) break
      const fault = await this.faultOf(ending.error)
      if (!isPassing(fault)) throw fault as unknown as Error
      if (!this.interruption) this.reader.interrupted?.(fault)
      this.interruption = true
      await this.rest(this.waitMs)
      this.waitMs = Math.min(this.waitMs * 2, backOffMaxMs)
    }
    await Promise.all(this.inHand.values())
  }

  /** One consumer, from joining to its end. */
  private async consume(): Promise<Ending> {
    let consumer: Consumer | null = null
    try {
      consumer = this.open().consumer({
        groupId: this.reader.group,
        sessionTimeout: sessionMs,
        heartbeatInterval: heartbeatMs,
        rebalanceTimeout: this.rebalanceMaxMs,
        maxWaitTimeInMs: fetchWaitMs,
        maxBytes: fetchBytesMax,
        maxBytesPerPartition: partitionBytesMax,
        allowAutoTopicCreation: false,
        retry: { ...retry, restartOnFailure: () => Promise.resolve(false) },
      })
      const ending = this.endOf(consumer)
      await consumer.connect()
      await consumer.subscribe({ topics: [...this.reader.topics], fromBeginning: true })
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: partitionsMax,
        eachBatch: (payload) => this.handle(payload),
      })
      return await ending
    } catch (error) {
      return { error }
    } finally {
      // What it has in hand from now on is not this consumer's any more, unless it only leaves.
      if (!this.isStopping) this.deal++
      if (consumer !== null) await within(leaveMaxMs, consumer.disconnect())
      this.deal++
    }
  }

  private endOf(consumer: Consumer): Promise<Ending> {
    return new Promise((resolve) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        resolve({ error: payload.error })
      })
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        this.deal++
        this.waitMs = backOffMinMs
        if (this.interruption) this.reader.interrupted?.(null)
        this.interruption = false
        this.reader.assigned?.(
          Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
            partitions.map((partition) => ({ topic, partition })),
          ),
        )
      })
      const { signal } = this.stopping
      const stop = (): void => {
        resolve({ stopped: true })
      }
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
      consumer.on(consumer.events.DISCONNECT, () => {
        signal.removeEventListener('abort', stop)
      })
    })
  }

  private async handle(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload
    const { partition, topic } = batch
    const { deal } = this
    const name = `${topic}/${partition}`
    const messages = batch.messages.map(receivedOf)
    const beating = this.beat(payload)
    try {
      // One that came before the partitions were dealt out anew may still be in hand.
      await this.inHand.get(name)
      if (this.deal !== deal || this.isStopping || payload.isStale()) return
      const work = this.reader
        .handle({ topic, partition, messages, behind: Number(batch.offsetLag()) })
        .catch(() => 0)
        .then((done) => Math.min(done, messages.length))
      this.inHand.set(name, work)
      const done = await work
      this.inHand.delete(name)
      if (done <= 0) {
        await this.rest(backOffMinMs)
        return
      }
      // It is another's by now: that one has it again, from where this one had committed.
      if (this.deal !== deal || payload.isStale()) return
      const last = batch.messages[done - 1]!.offset
      payload.resolveOffset(last)
      const offset = done === messages.length ? batch.lastOffset() : last
      await payload.commitOffsetsIfNecessary({
        topics: [{ topic, partitions: [{ partition, offset: String(BigInt(offset) + 1n) }] }],
      })
    } finally {
      beating.stop()
    }
    beating.rethrow()
  }

  /** Keeps the member in its group while it works; an order to deal out anew is heeded when the work is done. */
  private beat(payload: EachBatchPayload): { readonly stop: () => void; readonly rethrow: () => void } {
    let thrown: { readonly cause: unknown } | null = null
    const timer = setInterval(() => {
      if (thrown === null)
        payload.heartbeat().catch((cause: unknown) => {
          thrown = { cause }
        })
    }, heartbeatMs)
    return {
      stop: () => {
        clearInterval(timer)
      },
      rethrow: () => {
        if (thrown !== null) throw thrown.cause as Error
      },
    }
  }

  private async faultOf(error: unknown): Promise<BusFault> {
    const { group, topics } = this.reader
    const doing = `read ${topics.join(', ')} as ${group}`
    const isUncoordinated = causesOf(error).some((cause) => cause instanceof Error && cause.name === uncoordinated)
    if (!isUncoordinated) return faultOf(describePlace(this.place), doing, error)
    const answer = await coordinatorAnswer(this.place, group).catch(() => null)
    return faultOf(describePlace(this.place), doing, { type: answer ?? 'GROUP_COORDINATOR_NOT_AVAILABLE' })
  }

  private async rest(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined)
  }
}

const uncoordinated = 'KafkaJSGroupCoordinatorNotFound'

const receivedOf = ({ headers, key, offset, timestamp, value }: KafkaMessage): ReceivedMessage => ({
  key: key === null ? null : key.toString(),
  headers: Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, given]) => {
      const first = Array.isArray(given) ? given[0] : given
      return first === undefined ? [] : [[name, first.toString()]]
    }),
  ),
  value,
  offset: Number(offset),
  timestamp: Number(timestamp) as EpochMs,
})
