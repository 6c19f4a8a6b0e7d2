import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, it, vi } from 'vitest'
import type { BusBatch } from '../../../domain/ports/message-bus.ts'
import { kafkaMessageBus } from '../../../infra/kafka/message-bus.ts'
import { messageOf } from '../../contract/message-bus.contract.ts'
import { right } from '../../support/events.ts'
import { kafkaPlaceOf } from '../../support/kafka-place.ts'
import { describeOnKafka } from '../../support/servers.ts'

await describeOnKafka('members of a group on a real Kafka', (start) => {
  let place = kafkaPlaceOf('127.0.0.1:1')
  beforeAll(async () => {
    place = kafkaPlaceOf((await start()).launch.urls['kafka']!)
  }, 120_000)

  it('should not commit what is in hand once it is another’s', async () => {
    const rebalanceMaxMs = 2_000
    const slow = kafkaMessageBus(place, { rebalanceMaxMs })
    const quick = kafkaMessageBus(place, { rebalanceMaxMs })
    const topic = `topic-${randomUUID()}`
    const group = randomUUID()
    await right(slow.ensure([{ topic, partitions: 1 }]))
    await right(
      slow.publish(
        topic,
        ['1', '2', '3'].map((text) => messageOf('k', text)),
      ),
    )
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const bySlow: BusBatch[] = []
    const byQuick: BusBatch[] = []
    const first = slow.subscribe({
      group,
      topics: [topic],
      handle: async (batch) => {
        bySlow.push(batch)
        if (bySlow.length > 1) return 0
        await held
        return batch.messages.length
      },
    })
    await vi.waitFor(() => {
      expect(bySlow).toHaveLength(1)
    }, 30_000)
    // It asks for the partitions, and has them when the slow one has not come to the dealing in time.
    const second = quick.subscribe({
      group,
      topics: [topic],
      handle: (batch) => {
        byQuick.push(batch)
        return Promise.resolve(byQuick.length > 3 ? 0 : 1)
      },
    })
    await vi.waitFor(
      () => {
        expect(byQuick.map(({ messages }) => messages[0]!.offset)).toEqual([0, 1, 2])
      },
      { timeout: 30_000 },
    )
    await right(quick.publish(topic, [messageOf('k', '4')]))
    await vi.waitFor(() => {
      expect(byQuick.length).toBeGreaterThan(3)
    }, 10_000)
    release()
    await wait(2_000)
    await Promise.all([first.stop(), second.stop()])
    const after: BusBatch[] = []
    const third = quick.subscribe({
      group,
      topics: [topic],
      handle: (batch) => {
        after.push(batch)
        return Promise.resolve(batch.messages.length)
      },
    })
    await vi.waitFor(() => {
      expect(after.map(({ messages }) => messages[0]!.offset)).toEqual([3])
    }, 30_000)
    await third.stop()
    await Promise.all([slow.close(), quick.close()])
  }, 120_000)

  it('should leave at once, though nothing comes', async () => {
    const bus = kafkaMessageBus(place)
    const topic = `topic-${randomUUID()}`
    await right(bus.ensure([{ topic, partitions: 1 }]))
    let assigned = false
    const { stop } = bus.subscribe({
      group: randomUUID(),
      topics: [topic],
      handle: () => Promise.resolve(0),
      assigned: () => (assigned = true),
    })
    await vi.waitFor(() => {
      expect(assigned).toBe(true)
    }, 30_000)
    await wait(200)
    const began = performance.now()
    await stop()
    // By default a fetch, and with it a client that leaves, waits for five seconds.
    expect(performance.now() - began).toBeLessThan(4_000)
    await bus.close()
  }, 60_000)

  it('should say nothing beside its faults on a broker that nobody has used', async () => {
    const said = vi.spyOn(process.stdout, 'write')
    const complained = vi.spyOn(process.stderr, 'write')
    const bus = kafkaMessageBus(place)
    const topic = `topic-${randomUUID()}`
    await right(bus.ensure([{ topic, partitions: 2 }]))
    await right(bus.publish(topic, [messageOf('k', '1')]))
    await bus.close()
    const texts = [...said.mock.calls, ...complained.mock.calls].map(([text]) => String(text))
    vi.restoreAllMocks()
    expect(texts.filter((text) => /kafkajs|partitioner/i.test(text))).toEqual([])
  }, 60_000)
})
