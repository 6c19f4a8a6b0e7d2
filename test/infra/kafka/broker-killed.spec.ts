import { randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { KafkaJSProtocolError, type Kafka } from 'kafkajs'
import { beforeAll, expect, it, vi } from 'vitest'
import type { BusBatch, BusFault, MessageBus } from '../../../domain/ports/message-bus.ts'
import { kafkaClient } from '../../../infra/kafka/client.ts'
import { kafkaMessageBus } from '../../../infra/kafka/message-bus.ts'
import { SendQueue } from '../../../infra/kafka/send-queue.ts'
import { sessionMs } from '../../../infra/kafka/subscription.ts'
import type { ServerProcess } from '../../../infra/stack/server-process.ts'
import { messageOf, textOf } from '../../contract/message-bus.contract.ts'
import { left, right } from '../../support/events.ts'
import { kafkaPlaceOf } from '../../support/kafka-place.ts'
import { describeOnKafka } from '../../support/servers.ts'

await describeOnKafka('a Kafka that is killed', (start) => {
  let server: ServerProcess
  let broker = ''
  beforeAll(async () => {
    server = await start()
    broker = server.launch.urls['kafka']!
  }, 120_000)

  const topicOn = async (bus: MessageBus, partitions = 1): Promise<string> => {
    const topic = `topic-${randomUUID()}`
    await right(bus.ensure([{ topic, partitions }]))
    return topic
  }
  const killAndRestart = async (): Promise<void> => {
    await server.kill()
    await right(server.restart())
  }
  const readAll = async (bus: MessageBus, topic: string, count: number): Promise<ReadonlyArray<string>> => {
    const texts: string[] = []
    const { stop } = bus.subscribe({
      group: randomUUID(),
      topics: [topic],
      handle: ({ messages }) => {
        texts.push(...messages.map(textOf))
        return Promise.resolve(messages.length)
      },
    })
    await vi.waitFor(
      () => {
        expect(new Set(texts).size).toBeGreaterThanOrEqual(count)
      },
      { timeout: 60_000, interval: 50 },
    )
    await stop()
    return texts
  }

  it('should have every message once and in order, however many were on their way when it was killed', async () => {
    const place = kafkaPlaceOf(broker)
    const bus = kafkaMessageBus(place)
    const topic = await topicOn(bus)
    const queue = new SendQueue('kafka', () => kafkaClient(place), 120_000)
    const texts = Array.from({ length: 3_000 }, (_, at) => String(at))
    const sent: Promise<unknown>[] = []
    let killed: Promise<void> | null = null
    for (const text of texts) {
      sent.push(queue.send(topic, [messageOf('k', text)]))
      if (text === '1000') killed = killAndRestart()
      if (Number(text) % 10 === 0) await wait(1)
    }
    await killed
    for (const outcome of await Promise.all(sent)) expect(outcome).toMatchObject({ _tag: 'Right' })
    const read = await readAll(bus, topic, texts.length)
    // Only a new producer may have sent again what was there.
    if (queue.producers === 1) expect(read).toEqual(texts)
    else expect([...new Set(read)]).toEqual(texts)
    await queue.close()
    await bus.close()
  }, 180_000)

  it('should be sent to by a new producer once the broker does not follow the numbers of the old one', async () => {
    const place = kafkaPlaceOf(broker)
    const bus = kafkaMessageBus(place)
    const topic = await topicOn(bus)
    let opened = 0
    const open = (): Kafka => {
      const client = kafkaClient(place)
      const isFirst = opened++ === 0
      const producer = client.producer.bind(client)
      client.producer = (config) => {
        const real = producer(config)
        const sendBatch = real.sendBatch.bind(real)
        let sends = 0
        // The broker's own error, as kafkajs makes it; it is not to be had from it at will.
        if (isFirst)
          real.sendBatch = (batch) =>
            ++sends > 1 ? Promise.reject(new KafkaJSProtocolError(outOfOrder)) : sendBatch(batch)
        return real
      }
      return client
    }
    const queue = new SendQueue('kafka', open, 30_000)
    for (const text of ['1', '2', '3']) await right(() => queue.send(topic, [messageOf('k', text)]))
    expect(queue.producers).toBe(2)
    expect(await readAll(bus, topic, 3)).toEqual(['1', '2', '3'])
    await queue.close()
    await bus.close()
  }, 120_000)

  it('should be told to be down by the cause, and taken up by the same bus when it is back', async () => {
    const bus = kafkaMessageBus(kafkaPlaceOf(broker), { publishMaxMs: 2_000 })
    const topic = await topicOn(bus)
    const interrupted: (BusFault | null)[] = []
    const read: string[] = []
    const { stop } = bus.subscribe({
      group: randomUUID(),
      topics: [topic],
      handle: ({ messages }) => {
        read.push(...messages.map(textOf))
        return Promise.resolve(messages.length)
      },
      interrupted: (fault) => interrupted.push(fault),
    })
    await right(bus.publish(topic, [messageOf('k', 'before')]))
    await vi.waitFor(() => {
      expect(read).toEqual(['before'])
    }, 30_000)
    await server.kill()
    const fault = await left(bus.publish(topic, [messageOf('k', 'lost')]))
    expect(fault).toMatchObject({ kind: 'unreachable', mend: 'see to the brokers and the network' })
    expect(fault.reason).toMatch(/ECONNREFUSED|ECONNRESET|it does not answer/)
    await vi.waitFor(() => {
      expect(interrupted.at(-1)?.kind).toBe('unreachable')
    }, 60_000)
    await right(server.restart())
    await vi.waitFor(
      async () => {
        await right(bus.publish(topic, [messageOf('k', 'after')]))
      },
      { timeout: 60_000 },
    )
    await vi.waitFor(
      () => {
        expect(read).toContain('after')
      },
      { timeout: 60_000 },
    )
    expect(interrupted.at(-1)).toBeNull()
    await stop()
    await bus.close()
  }, 240_000)

  it('should lose nothing that was acknowledged to a reader, under kill after kill', async () => {
    const bus = kafkaMessageBus(kafkaPlaceOf(broker), { publishMaxMs: 120_000 })
    const topic = await topicOn(bus, 3)
    const read = new Map<number, string[]>()
    const { stop } = bus.subscribe({
      group: randomUUID(),
      topics: [topic],
      handle: ({ messages, partition }) => {
        const own = read.get(partition) ?? []
        read.set(partition, own)
        for (const message of messages) own[message.offset] = textOf(message)
        return Promise.resolve(messages.length)
      },
    })
    const texts = Array.from({ length: 600 }, (_, at) => String(at))
    for (let at = 0; at < texts.length; at += 20) {
      if (at === 200 || at === 400) await killAndRestart()
      await right(
        bus.publish(
          topic,
          texts.slice(at, at + 20).map((text) => messageOf(text, text)),
        ),
      )
    }
    await vi.waitFor(
      () => {
        expect(new Set([...read.values()].flat())).toEqual(new Set(texts))
      },
      { timeout: 60_000 },
    )
    await stop()
    await bus.close()
  }, 240_000)

  it('should give what a reader had that was killed to another, when its session has ended', async () => {
    const bus = kafkaMessageBus(kafkaPlaceOf(broker))
    const topic = await topicOn(bus)
    const group = randomUUID()
    await right(bus.publish(topic, [messageOf('k', '1')]))
    const script = `
      const { Kafka, logLevel } = require('kafkajs')
      const consumer = new Kafka({ brokers: ['${broker}'], logLevel: logLevel.NOTHING }).consumer({ groupId: '${group}', sessionTimeout: ${sessionMs} })
      consumer.connect()
        .then(() => consumer.subscribe({ topics: ['${topic}'], fromBeginning: true }))
        .then(() => consumer.run({ autoCommit: false, eachBatch: () => { console.log('in hand'); return new Promise(() => {}) } }))`
    const child = spawn(process.execPath, ['-e', script])
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGKILL')
    const killedAt = performance.now()
    const batches: BusBatch[] = []
    const { stop } = bus.subscribe({
      group,
      topics: [topic],
      handle: (batch) => {
        batches.push(batch)
        return Promise.resolve(batch.messages.length)
      },
    })
    await vi.waitFor(
      () => {
        expect(batches.flatMap(({ messages }) => messages.map(textOf))).toEqual(['1'])
      },
      { timeout: 60_000, interval: 50 },
    )
    // It is the session that frees them: the broker has not seen anybody leave.
    expect(performance.now() - killedAt).toBeGreaterThan(sessionMs / 4)
    await stop()
    await bus.close()
  }, 120_000)
})

const outOfOrder = {
  message: 'The broker received an out of order sequence number',
  type: 'OUT_OF_ORDER_SEQUENCE_NUMBER',
  code: 45,
  retriable: false,
} as unknown as Error
