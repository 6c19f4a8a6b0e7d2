import { randomUUID } from 'node:crypto'
import { either as E } from 'fp-ts'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import type { Checkpoint, EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { BusBatch, BusMessage, MessageBus } from '../../domain/ports/message-bus.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { memoryMessageBus } from '../../infra/memory/message-bus.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { busIngest, deadLetterTopic, ingestTopicPlans, type BusIngest } from '../../services/ingest/bus-ingest.ts'
import { DeadLetters, deadLetterStream } from '../../services/ingest/dead-letters.ts'
import { FactIntake } from '../../services/ingest/fact-intake.ts'
import { decisionOutbox } from '../../services/publish/decision-outbox.ts'
import type { DecisionMessage } from '../../projections/decisions/decision-message.ts'
import { textOf } from '../contract/message-bus.contract.ts'
import { right } from '../support/events.ts'
import { factScript, lineOf } from '../support/fact-script.ts'
import { kafkaPlaceOf } from '../support/kafka-place.ts'
import { describeOnKafka } from '../support/servers.ts'

const stream = 'cell-default'
const clock = { now: () => Date.now() as EpochMs }
const until = async (holds: () => void | Promise<void>): Promise<void> => {
  await vi.waitFor(holds, { timeout: 40_000, interval: 20 })
}

const cellOn = async (log: EventLog): Promise<FactIntake> => {
  const writer = { source: 'ingest', actor: 'ingest' }
  const cell = await right(() => CellWriter.open(log, { stream, ...writer, recordTime: (at) => at }))
  const deadLetters = await right(() => DeadLetters.open(log, writer))
  return new FactIntake({ log, stream, deadLetters, clock, orderTime: clock, request: () => cell })
}
const messagesIn = (log: EventLog) => right(log.readMessages(stream, 0, 1_000_000))
const isNode = ({ type }: CellInput): boolean => type === 'NodeRegistered' || type === 'NodeHealthChanged'

const script = await factScript(7, 60)
const embedded = memoryEventLog()
const direct = await cellOn(embedded)
await right(
  direct.stream(
    (async function* () {
      await Promise.resolve()
      for (const [id, input] of script) yield Buffer.from(`${lineOf(id, input)}\n`)
    })(),
    () => undefined,
  ),
)
const expected = await messagesIn(embedded)

const suite = (name: string, open: () => MessageBus): void => {
  describe(`ingest and outbox: ${name}`, { timeout: 120_000 }, () => {
    const opened = async (partitions: number) => {
      const bus = open()
      const topics = [`run-${randomUUID()}`, `node-${randomUUID()}`] as const
      await right(bus.ensure(ingestTopicPlans(partitions, topics)))
      const factOf = ([id, input]: readonly [string, CellInput], sequence: number): readonly [string, BusMessage] => [
        topics[isNode(input) ? 1 : 0],
        {
          key: `key-${sequence % 5}`,
          headers: { sequence: String(sequence) },
          value: Buffer.from(lineOf(id, input)),
        },
      ]
      const publish = async (messages: ReadonlyArray<readonly [string, BusMessage]>): Promise<void> => {
        for (const topic of topics)
          await right(
            bus.publish(
              topic,
              messages.filter(([of]) => of === topic).map(([, message]) => message),
            ),
          )
      }
      const all = script.map(factOf)
      return { bus, topics, all, publish }
    }
    const ingesting = async (
      { bus, topics }: { readonly bus: MessageBus; readonly topics: ReadonlyArray<string> },
      log: EventLog,
      more: Partial<BusIngest> = {},
    ) => busIngest({ bus, topics, intake: await cellOn(log), group: randomUUID(), gatherMaxMs: 3_000, ...more })
    const readLetters = async (bus: MessageBus, topic: string, count: number) => {
      const letters: BusMessage[] = []
      const { stop } = bus.subscribe({
        group: randomUUID(),
        topics: [deadLetterTopic(topic)],
        handle: ({ messages }) => {
          letters.push(...messages)
          return Promise.resolve(messages.length)
        },
      })
      await until(() => {
        expect(letters.length).toBeGreaterThanOrEqual(count)
      })
      await stop()
      return letters
    }

    it('should come to the same inputs and decisions as the log that was told directly, whatever partitions they came by', async () => {
      const way = await opened(3)
      await way.publish(way.all)
      const log = memoryEventLog()
      const { stop } = await ingesting(way, log)
      await until(async () => {
        expect((await messagesIn(log)).length).toBeGreaterThanOrEqual(expected.length)
      })
      await stop()
      expect(await messagesIn(log)).toEqual(expected)
      await way.bus.close()
    })

    it('should change nothing by what comes twice, or again after a crash between recording and committing', async () => {
      const way = await opened(3)
      await way.publish([...way.all, ...way.all])
      const log = memoryEventLog()
      const group = randomUUID()
      let crashes = 0
      // Handled, and not committed: as if it had ended in between.
      const forgetful: MessageBus = {
        ...way.bus,
        subscribe: (reader) =>
          way.bus.subscribe({
            ...reader,
            handle: async (batch: BusBatch) => {
              const done = await reader.handle(batch)
              return crashes++ < 4 ? 0 : done
            },
          }),
      }
      const first = await ingesting({ ...way, bus: forgetful }, log, { group })
      await until(async () => {
        expect((await messagesIn(log)).length).toBeGreaterThanOrEqual(expected.length)
        expect(crashes).toBeGreaterThan(4)
      })
      await first.stop()
      // Another process, with the same log and the same group.
      const second = await ingesting(way, log, { group })
      await way.publish(way.all.slice(-1))
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      await second.stop()
      expect(await messagesIn(log)).toEqual(expected)
      await way.bus.close()
    })

    it('should put what it can make nothing of, and what is refused, beside its reason, and go on', async () => {
      const way = await opened(1)
      const [runs] = way.topics
      const broken = { key: 'k', headers: { traceparent: '00-1' }, value: Buffer.from('{"specversion": 1') }
      const unknown: CellInput = {
        type: 'CancelRequested',
        at: 1 as EpochMs,
        data: { actor: 'u-1', reason: null, workload: 'nobody' },
      }
      const refused = { key: 'k', headers: {}, value: Buffer.from(lineOf('cancel-nobody', unknown)) }
      await way.publish([[runs, broken], [runs, { ...broken, value: null }], [runs, refused], ...way.all])
      const log = memoryEventLog()
      const { stop } = await ingesting(way, log)
      await until(async () => {
        expect((await messagesIn(log)).length).toBeGreaterThanOrEqual(expected.length)
      })
      const letters = await readLetters(way.bus, runs, 3)
      await stop()
      expect(letters.map(({ headers }) => headers['class']).sort()).toEqual(['refused', 'undecodable', 'undecodable'])
      const first = letters.find(({ headers }) => headers['origin-offset'] === '0')!
      expect(textOf(first)).toBe(textOf(broken))
      expect(first.headers).toMatchObject({ 'origin-topic': runs, 'origin-partition': '0', traceparent: '00-1' })
      expect(first.headers['reason']).toContain('is not JSON')
      expect(letters.find(({ headers }) => headers['class'] === 'refused')!.headers['reason']).toContain('nobody')
      // The log has them too, for the verbs that list and replay them.
      expect(await right(log.readMessages(deadLetterStream, 0, 10))).toHaveLength(2)
      expect(await messagesIn(log)).toEqual(expected)
      await way.bus.close()
    })

    it('should commit nothing while the log takes nothing, and all when it does again', async () => {
      const way = await opened(2)
      const log = memoryEventLog()
      const real = await cellOn(log)
      let full = true
      let asked = 0
      const fault: LogUnavailable = {
        type: 'LogUnavailable',
        kind: 'full',
        reason: 'the disk is full',
        mend: 'free some',
      }
      const faults: (LogUnavailable | null)[] = []
      const { stop } = await ingesting(way, log, {
        failing: (told) => faults.push(told),
        intake: {
          decided: (batch) => {
            asked++
            return full ? () => Promise.resolve(E.left(fault)) : real.decided(batch)
          },
        },
      })
      await way.publish(way.all)
      await until(() => {
        expect(asked).toBeGreaterThan(3)
      })
      expect(faults.at(-1)).toEqual(fault)
      expect(await messagesIn(log)).toEqual([])
      full = false
      await until(async () => {
        expect((await messagesIn(log)).length).toBeGreaterThanOrEqual(expected.length)
      })
      expect(faults.at(-1)).toBeNull()
      await stop()
      expect(await messagesIn(log)).toEqual(expected)
      await way.bus.close()
    })

    it('should hold one batch of each partition and no more while the log is slow', async () => {
      const way = await opened(2)
      const inHand = new Map<string, number>()
      let most = 0
      let together = 0
      const counting: MessageBus = {
        ...way.bus,
        subscribe: (reader) =>
          way.bus.subscribe({
            ...reader,
            handle: async (batch) => {
              const name = `${batch.topic}/${batch.partition}`
              inHand.set(name, (inHand.get(name) ?? 0) + 1)
              most = Math.max(most, ...inHand.values())
              try {
                return await reader.handle(batch)
              } finally {
                inHand.set(name, inHand.get(name)! - 1)
              }
            },
          }),
      }
      let rounds = 0
      let deciding = 0
      const { stop } = await ingesting({ ...way, bus: counting }, memoryEventLog(), {
        gatherMaxMs: 50,
        intake: {
          decided: (batch) => async () => {
            together = Math.max(together, ++deciding)
            await new Promise((resolve) => setTimeout(resolve, 100))
            deciding--
            rounds++
            return E.right(batch.map(() => ({ id: '', outcome: 'recorded' as const })))
          },
        },
      })
      for (let at = 0; at < 10; at++) await way.publish(way.all)
      await until(() => {
        expect(rounds).toBeGreaterThan(4)
      })
      await stop()
      expect([most, together]).toEqual([1, 1])
      await way.bus.close()
    })

    it('should publish every decision in order, again after a crash by the same ids, and wait while the bus is down', async () => {
      const bus = open()
      const topic = `decisions-${randomUUID()}`
      await right(bus.ensure([{ topic, partitions: 2 }]))
      let saved = -1
      let crashes = 1
      let down = 2
      const checkpoint: Checkpoint = {
        load: () => Promise.resolve(saved),
        // Published, and its place not saved: as if it had ended in between.
        save: (position) =>
          crashes-- > 0 ? Promise.reject(new Error('crashed')) : Promise.resolve(void (saved = position)),
      }
      const faults: unknown[] = []
      const flapping: MessageBus = {
        ...bus,
        publish: (to, messages) =>
          down-- > 0
            ? () =>
                Promise.resolve(
                  E.left({ type: 'BusFault', kind: 'unreachable', reason: 'down', mend: 'wait' } as const),
                )
            : bus.publish(to, messages),
      }
      const { stop } = decisionOutbox({
        bus: flapping,
        log: embedded,
        checkpoint,
        topic,
        failing: (fault) => faults.push(fault),
      })
      const told: DecisionMessage[] = []
      const { stop: stopReading } = bus.subscribe({
        group: randomUUID(),
        topics: [topic],
        handle: ({ messages }) => {
          told.push(...messages.map((message) => JSON.parse(textOf(message)) as DecisionMessage))
          return Promise.resolve(messages.length)
        },
      })
      const isDecision = ({ type }: { readonly type: string }) =>
        ['WorkloadAdmitted', 'WorkloadHeld', 'CommandIssued', 'AttemptStopped'].includes(type)
      const decided = expected.filter(isDecision).length
      const shown = (messages: ReadonlyArray<DecisionMessage>) =>
        messages.filter(({ type }) => /workload\.(admitted|held)|command\.issued|attempt\.stopped/.test(type))
      await until(() => {
        expect(shown(told).length).toBeGreaterThanOrEqual(decided * 2)
      })
      await until(() => {
        expect(saved).toBeGreaterThan(0)
      })
      await Promise.all([stop(), stopReading()])
      expect(faults.length).toBeGreaterThan(2)
      const once = new Map(told.map((message) => [`${message.source} ${message.id}`, message]))
      expect(shown([...once.values()])).toHaveLength(decided)
      const sequences = [...once.values()].map(({ sequence }) => Number(sequence))
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
      expect([...once.values()][0]).toMatchObject({ specversion: '1.0', source: `leasehold/${stream}` })
      await bus.close()
    })
  })
}

suite('on the bus in this process', () => memoryMessageBus(clock.now))

await describeOnKafka('on a real broker', (start) => {
  let place = kafkaPlaceOf('127.0.0.1:1')
  beforeAll(async () => {
    place = kafkaPlaceOf((await start()).launch.urls['kafka']!)
  }, 120_000)
  suite('Kafka', () => kafkaMessageBus(place))
})
