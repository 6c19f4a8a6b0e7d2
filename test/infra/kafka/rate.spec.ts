import { randomUUID } from 'node:crypto'
import { Partitioners } from 'kafkajs'
import { beforeAll, expect, it } from 'vitest'
import { kafkaClient } from '../../../infra/kafka/client.ts'
import { kafkaMessageBus } from '../../../infra/kafka/message-bus.ts'
import { right } from '../../support/events.ts'
import { kafkaPlaceOf } from '../../support/kafka-place.ts'
import { describeOnKafka } from '../../support/servers.ts'

const messages = 10_000
const batch = 500
const rounds = 3
const value = Buffer.from(JSON.stringify({ text: 'x'.repeat(1_000) }))

/** Seconds that the whole transfer took. */
const timed = async (transfer: () => Promise<void>): Promise<number> => {
  const began = performance.now()
  await transfer()
  return (performance.now() - began) / 1_000
}
const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

await describeOnKafka('the rate on a real Kafka', (start) => {
  let place = kafkaPlaceOf('127.0.0.1:1')
  beforeAll(async () => {
    place = kafkaPlaceOf((await start()).launch.urls['kafka']!)
  }, 120_000)

  it('should be at least half of what the client does that is told to do no more', async () => {
    const bus = kafkaMessageBus(place)
    const client = kafkaClient(place)
    const producer = client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    const send = (topic: string) => async () => {
      for (let at = 0; at < messages; at += batch)
        await producer.send({
          topic,
          acks: -1,
          messages: Array.from({ length: batch }, (_, i) => ({ key: `${i}`, value })),
        })
    }
    const publish = (topic: string) => async () => {
      for (let at = 0; at < messages; at += batch)
        await right(
          bus.publish(
            topic,
            Array.from({ length: batch }, (_, i) => ({ key: `${i}`, headers: {}, value })),
          ),
        )
    }
    const consume = (topic: string) => async () => {
      const consumer = client.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 250 })
      await consumer.connect()
      await consumer.subscribe({ topics: [topic], fromBeginning: true })
      let read = 0
      await new Promise<void>((resolve) => {
        void consumer.run({
          eachBatch: ({ batch: { messages: got } }) => {
            read += got.length
            if (read >= messages) resolve()
            return Promise.resolve()
          },
        })
      })
      await consumer.disconnect()
    }
    const subscribe = (topic: string) => async () => {
      let read = 0
      await new Promise<void>((resolve) => {
        const { stop } = bus.subscribe({
          group: randomUUID(),
          topics: [topic],
          handle: ({ messages: got }) => {
            read += got.length
            if (read >= messages) void stop().then(resolve)
            return Promise.resolve(got.length)
          },
        })
      })
    }
    const produced: number[] = []
    const consumed: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const topics = [`bare-${randomUUID()}`, `ours-${randomUUID()}`] as const
      await right(bus.ensure(topics.map((topic) => ({ topic, partitions: 3 }))))
      const producing = (await timed(send(topics[0]))) / (await timed(publish(topics[1])))
      const consuming = (await timed(consume(topics[0]))) / (await timed(subscribe(topics[1])))
      // The first warms both up.
      if (round > 0) produced.push(producing)
      if (round > 0) consumed.push(consuming)
    }
    console.info(
      `published ${median(produced).toFixed(2)} x, delivered ${median(consumed).toFixed(2)} x the bare client`,
    )
    expect(median(produced)).toBeGreaterThanOrEqual(0.5)
    expect(median(consumed)).toBeGreaterThanOrEqual(0.5)
    await producer.disconnect()
    await bus.close()
  }, 240_000)
})
