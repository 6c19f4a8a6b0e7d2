import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type Sqlite from 'better-sqlite3'
import { Partitioners, type Producer } from 'kafkajs'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'
import type { BusMessage, MessageBus } from '../../domain/ports/message-bus.ts'
import { kafkaClient } from '../../infra/kafka/client.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import { sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { busIngest } from '../../services/ingest/bus-ingest.ts'
import { openWayIn } from '../../services/system/way-in.ts'
import { kafkaPlaceOf } from '../support/kafka-place.ts'
import { asFact, standardBatches } from './http.ts'
import { ratioOf, type Ratio } from './ratio.ts'
import { inNewLog, rightOf, stream } from './standard-log.ts'

const partitions = 3
const messages = 20_000
const batch = 500
const value = Buffer.from(JSON.stringify({ text: 'x'.repeat(1_000) }))
const made: ReadonlyArray<ReadonlyArray<BusMessage>> = Array.from({ length: messages / batch }, () =>
  Array.from({ length: batch }, (_, i) => ({ key: `${i}`, headers: {}, value })),
)

const newTopic = async (bus: MessageBus): Promise<string> => {
  const topic = `topic-${randomUUID()}`
  rightOf(await bus.ensure([{ topic, partitions }])())
  return topic
}

const since = (start: number): number => performance.now() - start

/** Published one batch after the other, against the client that is told to do no more. */
export const benchPublish = async (broker: string): Promise<Ratio> => {
  const bus = kafkaMessageBus(kafkaPlaceOf(broker))
  const producer = await bareProducer(broker)
  const ours = async (): Promise<number> => {
    const topic = await newTopic(bus)
    const start = performance.now()
    for (const each of made) rightOf(await bus.publish(topic, each)())
    return since(start)
  }
  const bare = async (): Promise<number> => {
    const topic = await newTopic(bus)
    const start = performance.now()
    for (const each of made) await producer.send({ topic, acks: -1, messages: each as BusMessage[] as never })
    return since(start)
  }
  const ratio = await ratioOf('published to Kafka / the bare client', messages, ours, bare)
  await producer.disconnect()
  await bus.close()
  return ratio
}

/** Delivered by a new group and committed, against the client that commits by itself. */
export const benchDeliver = async (broker: string): Promise<Ratio> => {
  const bus = kafkaMessageBus(kafkaPlaceOf(broker))
  const topic = await newTopic(bus)
  for (const each of made) rightOf(await bus.publish(topic, each)())
  const ours = (): Promise<number> => {
    const start = performance.now()
    let read = 0
    return new Promise((resolve) => {
      const { stop } = bus.subscribe({
        group: randomUUID(),
        topics: [topic],
        handle: ({ messages: got }) => {
          read += got.length
          if (read >= messages)
            void stop().then(() => {
              resolve(since(start))
            })
          return Promise.resolve(got.length)
        },
      })
    })
  }
  const ratio = await ratioOf('delivered from Kafka / the bare client', messages, ours, async () => {
    const start = performance.now()
    await consumed(broker, topic, messages)
    return since(start)
  })
  await bus.close()
  return ratio
}

/**
 * Facts from Kafka decided about and in the log, against the bare client reading them and the log alone taking the very appends
 * that follow, facts with decisions, in batches of 1,000 facts.
 */
export const benchKafkaToLog = async (Driver: typeof Sqlite, broker: string, events: number): Promise<Ratio> => {
  const bus = kafkaMessageBus(kafkaPlaceOf(broker))
  const topic = await newTopic(bus)
  const batches = await standardBatches(Driver, events)
  const facts = batches.flatMap((each) => each.filter(({ message }) => isInput(message as unknown as CellEvent)))
  for (let at = 0; at < facts.length; at += batch)
    rightOf(
      await bus.publish(
        topic,
        facts.slice(at, at + batch).map((fact, i) => messageOf(fact, at + i)),
      )(),
    )
  const ours = (): Promise<number> => ingested(Driver, bus, topic, facts.length)
  const bare = (): Promise<number> =>
    inNewLog(Driver, async (log) => {
      const start = performance.now()
      await consumed(broker, topic, facts.length)
      let revision = -1
      for (const each of batches)
        revision = rightOf(await log.append(stream, revision, each as ReadonlyArray<NewEvent>)()).revision
      return since(start)
    })
  const ratio = await ratioOf(
    'facts from Kafka to the log / the bare client and the log alone',
    facts.length,
    ours,
    bare,
  )
  await bus.close()
  return ratio
}

const messageOf = (fact: StoredEvent, sequence: number): BusMessage => ({
  key: (fact.message.data['workload'] as string | undefined) ?? null,
  headers: { sequence: String(sequence) },
  value: Buffer.from(encodeFact(asFact(fact))),
})

/** By a cell of its own that decides, into a log of its own. */
const ingested = async (Driver: typeof Sqlite, bus: MessageBus, topic: string, count: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const log = rightOf(await sqliteEventLog(Driver, join(folder, 'log.sqlite'))())
  const { intake, owner } = rightOf(await openWayIn(log, folder, stream, 'events'))
  const start = performance.now()
  let recorded = 0
  const took = await new Promise<number>((resolve, reject) => {
    const decided: typeof intake.decided = (facts) => async () => {
      const answers = await intake.decided(facts)()
      for (const { outcome } of rightOf(answers)) if (outcome !== 'recorded') reject(new Error(`a fact was ${outcome}`))
      recorded += facts.length
      if (recorded === count) resolve(since(start))
      return answers
    }
    const reading = busIngest({ bus, topics: [topic], intake: { decided }, group: randomUUID() })
    closing.push(() => reading.stop())
  })
  for (const close of closing.splice(0)) await close()
  await owner.close()
  await log.close()
  rmSync(folder, { recursive: true, force: true })
  return took
}
const closing: (() => Promise<void>)[] = []

const consumed = async (broker: string, topic: string, count: number): Promise<void> => {
  const consumer = kafkaClient(kafkaPlaceOf(broker)).consumer({ groupId: randomUUID(), maxWaitTimeInMs: 250 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  let read = 0
  await new Promise<void>((resolve) => {
    void consumer.run({
      eachBatch: ({ batch: { messages: got } }) => {
        read += got.length
        if (read >= count) resolve()
        return Promise.resolve()
      },
    })
  })
  await consumer.disconnect()
}

const bareProducer = async (broker: string): Promise<Producer> => {
  const producer = kafkaClient(kafkaPlaceOf(broker)).producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  return producer
}
