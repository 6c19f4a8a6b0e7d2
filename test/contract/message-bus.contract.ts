import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { BusBatch, BusMessage, BusSubscription, GroupReader, MessageBus } from '../../domain/ports/message-bus.ts'
import { left, right } from '../support/events.ts'

export const messageOf = (key: string | null, text: string): BusMessage => ({
  key,
  headers: { about: `of ${text}` },
  value: Buffer.from(text),
})
export const textOf = ({ value }: BusMessage): string => (value === null ? '' : Buffer.from(value).toString())

const waitMs = 20_000
const until = (holds: () => void): Promise<void> => vi.waitFor(holds, { timeout: waitMs, interval: 20 })

/** What every bus does. `open` gives one more way to the same bus. */
export const messageBusContract = (name: string, open: () => MessageBus, waitMaxMs = 60_000): void => {
  describe(`message bus: ${name}`, { timeout: waitMaxMs }, () => {
    let bus: MessageBus
    beforeAll(() => {
      bus = open()
    })
    afterAll(() => bus.close())

    const topicWith = async (partitions: number): Promise<string> => {
      const topic = `topic-${randomUUID()}`
      await right(bus.ensure([{ topic, partitions }]))
      return topic
    }
    const publish = (topic: string, ...messages: ReadonlyArray<BusMessage>) => right(bus.publish(topic, messages))
    const all = (batches: ReadonlyArray<BusBatch>): ReadonlyArray<string> =>
      batches.flatMap(({ messages }) => messages.map(textOf))

    /** Collects what is delivered. */
    const reading = (
      topic: string,
      group: string = randomUUID(),
      handle: (batch: BusBatch) => Promise<number> = ({ messages }) => Promise.resolve(messages.length),
      more: Partial<GroupReader> = {},
    ): BusSubscription & { readonly batches: ReadonlyArray<BusBatch> } => {
      const batches: BusBatch[] = []
      const subscription = bus.subscribe({
        group,
        topics: [topic],
        handle: (batch) => {
          batches.push(batch)
          return handle(batch)
        },
        ...more,
      })
      return { batches, ended: subscription.ended, stop: () => subscription.stop() }
    }

    it('should deliver what was published as it was, of a key in order and in one partition, offset after offset', async () => {
      const topic = await topicWith(3)
      const keys = ['a', 'b', 'c', 'd']
      const texts = keys.map((key) => Array.from({ length: 20 }, (_, at) => `${key}-${at}`))
      for (let at = 0; at < 20; at += 5)
        await publish(
          topic,
          ...keys.flatMap((key, k) => texts[k]!.slice(at, at + 5).map((text) => messageOf(key, text))),
        )
      const { batches, stop } = reading(topic)
      await until(() => {
        expect(all(batches)).toHaveLength(80)
      })
      await stop()
      const messages = batches.flatMap(({ partition, messages }) =>
        messages.map((message) => ({ ...message, partition })),
      )
      keys.forEach((key, k) => {
        const own = messages.filter((message) => message.key === key)
        expect(own.map(textOf)).toEqual(texts[k])
        expect(new Set(own.map(({ partition }) => partition)).size).toBe(1)
        expect(own.map(({ headers }) => headers['about'])).toEqual(texts[k]!.map((text) => `of ${text}`))
      })
      for (const partition of [0, 1, 2]) {
        const offsets = messages.filter((message) => message.partition === partition).map(({ offset }) => offset)
        expect(offsets).toEqual(offsets.map((_, at) => at))
      }
      expect(Math.abs(messages[0]!.timestamp - Date.now())).toBeLessThan(waitMs * 3)
    })

    it('should keep what has no value, no key, or no headers', async () => {
      const topic = await topicWith(1)
      await publish(
        topic,
        { key: null, headers: {}, value: Buffer.from([0, 255, 10]) },
        { key: 'k', headers: {}, value: null },
      )
      const { batches, stop } = reading(topic)
      await until(() => {
        expect(all(batches)).toHaveLength(2)
      })
      await stop()
      const [first, second] = batches.flatMap(({ messages }) => messages)
      expect({ ...first, value: [...first!.value!] }).toMatchObject({ key: null, headers: {}, value: [0, 255, 10] })
      expect(second).toMatchObject({ key: 'k', headers: {}, value: null })
    })

    it('should keep the order of calls that are made at once', async () => {
      const topic = await topicWith(1)
      const texts = Array.from({ length: 200 }, (_, at) => String(at))
      await Promise.all(texts.map((text) => publish(topic, messageOf('k', text))))
      const { batches, stop } = reading(topic)
      await until(() => {
        expect(all(batches)).toEqual(texts)
      })
      await stop()
    })

    it('should give each group everything, and go on in a group where it was committed', async () => {
      const topic = await topicWith(1)
      await publish(topic, messageOf('k', '1'), messageOf('k', '2'))
      const first = reading(topic, 'first-of-all')
      const other = reading(topic, 'the-other')
      await until(() => {
        expect([all(first.batches), all(other.batches)]).toEqual([
          ['1', '2'],
          ['1', '2'],
        ])
      })
      await first.stop()
      await first.ended
      await publish(topic, messageOf('k', '3'))
      const again = reading(topic, 'first-of-all')
      await until(() => {
        expect(all(again.batches)).toEqual(['3'])
      })
      expect(all(first.batches)).toEqual(['1', '2'])
      await Promise.all([again.stop(), other.stop()])
    })

    it('should deliver again what was not handled, and nothing behind it before', async () => {
      const topic = await topicWith(1)
      let failures = 0
      await publish(topic, ...['1', '2', '3'].map((text) => messageOf('k', text)))
      const { batches, stop } = reading(topic, randomUUID(), ({ messages }) => {
        if (failures++ < 3) return Promise.reject(new Error('not yet'))
        return Promise.resolve(messages.length)
      })
      await until(() => {
        expect(failures).toBeGreaterThan(3)
      })
      await stop()
      expect(batches.map(({ messages }) => messages[0]!.offset)).toEqual([0, 0, 0, 0])
    })

    it('should deliver again the messages from the first that was not done', async () => {
      const topic = await topicWith(1)
      await publish(topic, ...['1', '2', '3', '4', '5'].map((text) => messageOf('k', text)))
      const { batches, stop } = reading(topic, randomUUID(), () => Promise.resolve(2))
      await until(() => {
        expect(batches.map(({ messages }) => messages[0]!.offset)).toEqual([0, 2, 4])
      })
      await stop()
      expect(batches[0]!.messages).toHaveLength(5)
    })

    it('should bring nothing more of a partition while a batch of it is in hand', async () => {
      const topic = await topicWith(1)
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      await publish(topic, messageOf('k', '1'))
      const { batches, stop } = reading(topic, randomUUID(), async ({ messages }) => {
        await held
        return messages.length
      })
      await until(() => {
        expect(batches).toHaveLength(1)
      })
      for (let at = 2; at < 6; at++) await publish(topic, messageOf('k', String(at)))
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      expect(batches).toHaveLength(1)
      release()
      await until(() => {
        expect(all(batches)).toEqual(['1', '2', '3', '4', '5'])
      })
      await stop()
    })

    it('should wait with stopping for the batch in hand, and commit it', async () => {
      const topic = await topicWith(1)
      const group = randomUUID()
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      await publish(topic, messageOf('k', '1'))
      const first = reading(topic, group, async ({ messages }) => {
        await held
        return messages.length
      })
      await until(() => {
        expect(first.batches).toHaveLength(1)
      })
      let stopped = false
      const stopping = first.stop().then(() => (stopped = true))
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(stopped).toBe(false)
      release()
      await stopping
      await publish(topic, messageOf('k', '2'))
      const second = reading(topic, group)
      await until(() => {
        expect(all(second.batches)).toEqual(['2'])
      })
      await second.stop()
    })

    it('should deal partitions out among the members, and those of one that leaves to the others', async () => {
      const topic = await topicWith(4)
      const group = randomUUID()
      const owned: ReadonlyArray<number>[] = [[], []]
      const member = (at: number) =>
        reading(topic, group, undefined, {
          assigned: (partitions) => (owned[at] = partitions.map(({ partition }) => partition).sort()),
        })
      const first = member(0)
      const second = member(1)
      await until(() => {
        expect(owned.map(({ length }) => length)).toEqual([2, 2])
        expect(owned.flat().sort()).toEqual([0, 1, 2, 3])
      })
      const texts = Array.from({ length: 40 }, (_, at) => String(at))
      await publish(topic, ...texts.map((text) => messageOf(text, text)))
      await until(() => {
        expect([...all(first.batches), ...all(second.batches)].sort()).toEqual([...texts].sort())
      })
      expect(second.batches.length).toBeGreaterThan(0)
      await second.stop()
      await until(() => {
        expect(owned[0]).toEqual([0, 1, 2, 3])
      })
      await publish(topic, ...texts.map((text) => messageOf(text, `${text}-again`)))
      await until(() => {
        expect(all(first.batches).filter((text) => text.endsWith('-again'))).toHaveLength(40)
      })
      await first.stop()
    })

    it('should say of a topic that is not there that it is not', async () => {
      const fault = await left(bus.publish(`none-${randomUUID()}`, [messageOf('k', '1')]))
      expect(fault.kind).toBe('unknown-topic')
      expect(fault.mend).toContain('make the topic first')
      const subscription = bus.subscribe({
        group: randomUUID(),
        topics: [`none-${randomUUID()}`],
        handle: () => Promise.resolve(0),
      })
      await expect(subscription.ended).rejects.toMatchObject({ type: 'BusFault', kind: 'unknown-topic' })
      await subscription.stop()
    })

    it('should refuse a message that is too large, and take the others of the same turn', async () => {
      const topic = await topicWith(1)
      const large = { key: 'k', headers: {}, value: Buffer.alloc(2_000_000) }
      const [first, fault, last] = await Promise.all([
        bus.publish(topic, [messageOf('k', '1')])(),
        left(bus.publish(topic, [large])),
        bus.publish(topic, [messageOf('k', '2')])(),
      ])
      expect(fault.kind).toBe('too-large')
      expect([first, last]).toMatchObject([{ _tag: 'Right' }, { _tag: 'Right' }])
      const { batches, stop } = reading(topic)
      await until(() => {
        expect(all(batches)).toEqual(['1', '2'])
      })
      await stop()
    })

    it('should leave a topic as it is that is there already, and take no messages for a call without any', async () => {
      const topic = await topicWith(2)
      await publish(topic, messageOf('k', '1'))
      await right(
        bus.ensure([
          { topic, partitions: 5 },
          { topic: `${topic}-more`, partitions: 1 },
        ]),
      )
      await publish(topic)
      const { batches, stop } = reading(topic)
      await until(() => {
        expect(all(batches)).toEqual(['1'])
      })
      await stop()
    })

    it('should take nothing once it is closed, when what reads has stopped', async () => {
      const own = open()
      const topic = `topic-${randomUUID()}`
      await right(own.ensure([{ topic, partitions: 1 }]))
      const subscription = own.subscribe({ group: randomUUID(), topics: [topic], handle: () => Promise.resolve(1) })
      await own.close()
      await subscription.ended
      expect((await left(own.publish(topic, [messageOf('k', '1')]))).kind).toBe('closed')
      await expect(
        own.subscribe({ group: 'g', topics: [topic], handle: () => Promise.resolve(1) }).ended,
      ).rejects.toMatchObject({
        kind: 'closed',
      })
    })
  })
}
