import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { describe, expect, it, vi } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { decodeFactLine, encodeFact, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { conclusionOf } from '../../domain/planner/command-event.ts'
import { openCommand } from '../../domain/planner/open-commands.ts'
import type { BusMessage, BusSubscription, MessageBus } from '../../domain/ports/message-bus.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import { memoryConcludedCommands } from '../../infra/memory/concluded-commands.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { natsCommandSource } from '../../infra/nats/command-source.ts'
import { natsOutcomeSink } from '../../infra/nats/outcome-sink.ts'
import { natsRequester } from '../../infra/nats/requests.ts'
import type { DecisionMessage } from '../../projections/decisions/decision-message.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { factTopics, ingestTopicPlans } from '../../services/ingest/bus-ingest.ts'
import { decisionsTopic } from '../../services/publish/decision-outbox.ts'
import { right } from '../support/events.ts'
import { kafkaPlaceOf } from '../support/kafka-place.ts'
import { linkTo, natsKinds, startNatsServer } from '../support/nats-server.ts'
import { describeOnKafka } from '../support/servers.ts'
import { describeOnData } from '../support/shared-data.ts'
import { inputsOf, openbOn, simulated } from '../support/simulated.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { cellName, nodeOf } from '../support/up-cell.ts'
import { getStatus, intentOf, postSql } from '../support/up-client.ts'
import { storedIn } from '../support/up-stored.ts'
import { upVerb } from '../support/up-verb.ts'

const folder = tempFolder()
const up = upVerb()
const [nats] = natsKinds.slice(-1)
const soon = { timeout: 150_000, interval: 250 }

const factIn = (line: string): SourcedFact => {
  const fact = decodeFactLine(line)
  if (E.isLeft(fact)) throw new Error(line)
  return fact.right
}

/** Facts as sources send them: nodes on their topic, runs on the other, each with its sender's count. */
const messagesOf = (facts: ReadonlyArray<SourcedFact>): ReadonlyMap<string, ReadonlyArray<BusMessage>> => {
  const [runs = '', nodes = ''] = factTopics
  const byTopic = new Map<string, BusMessage[]>([
    [runs, []],
    [nodes, []],
  ])
  facts.forEach((fact, sequence) => {
    byTopic.get(fact.type.startsWith('Node') ? nodes : runs)!.push(messageOf(fact, sequence))
  })
  return byTopic
}

const messageOf = (fact: SourcedFact, sequence = 0): BusMessage => {
  const { node, workload } = fact.data as { readonly node?: string; readonly workload?: string }
  return {
    key: workload ?? node ?? null,
    headers: { sequence: String(sequence) },
    value: Buffer.from(encodeFact(fact)),
  }
}

/** What an embedded cell comes to when it is told this and its fleet starts at once whatever it is told to. */
const answered = async (told: ReadonlyArray<SourcedFact>) => {
  const log = memoryEventLog()
  const recording = { stream: cellName, source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }
  const writer = await right(() => CellWriter.open(log, recording))
  const facts: SourcedFact[] = []
  const take = (fact: SourcedFact): void => {
    const { id, source, ...input } = fact
    facts.push(fact)
    const taken = writer.take(input, id, { source })
    if (E.isLeft(taken)) throw new Error(`${id}: ${taken.left.type}`)
    for (const { type, data } of taken.right) {
      const admitted = type === 'WorkloadAdmitted' ? writer.cell.workloads.get(data.workload) : undefined
      const command = admitted === undefined ? null : openCommand(writer.cell, admitted)
      // Of one instant, what comes from one source keeps its order.
      if (command !== null) take({ source, ...conclusionOf(command, fact.at, 'done', null) })
    }
  }
  for (const fact of told) take(fact)
  await right(() => writer.flush())
  return { facts, digest: await right(digestOf(log)), events: (await right(log.heads()))[0]!.size }
}

/** What is decided, as somebody else reads it. */
const read = (bus: MessageBus, take: (decision: DecisionMessage) => unknown): BusSubscription =>
  bus.subscribe({
    group: 'reader',
    topics: [decisionsTopic],
    handle: ({ messages }) => {
      for (const { value } of messages) take(JSON.parse(Buffer.from(value!).toString()) as DecisionMessage)
      return Promise.resolve(messages.length)
    },
  })

await describeOnKafka('a system over Kafka, NATS and chDB', (startKafka) => {
  describe.skipIf(nats!.program === null)(`with ${nats!.name}`, { timeout: 400_000 }, () => {
    const servers = async () => {
      const [kafka, natsServer] = await Promise.all([startKafka(), startNatsServer(nats!.program!)])
      const broker = kafka.launch.urls['kafka']!
      const bus = kafkaMessageBus(kafkaPlaceOf(broker))
      const words = ['--kafka', `kafka://${broker}?gather=20000`, '--nats', natsServer.url]
      return { bus, natsServer, words: [...words, '--adapter', 'nats', '--adapter-name', 'fleet'] }
    }

    it('should take nodes from Kafka and questions from NATS, have its adapter run a job, and tell Kafka what it decided', async () => {
      const { bus, natsServer, words } = await servers()
      const { address, ended, kill } = await up([...words, '--views', 'none', '--data', folder()])
      const [, nodes = ''] = factTopics
      await right(bus.publish(nodes, [messageOf({ source: 'fleet', ...nodeOf('node-1') })]))
      // The policy is there from the start.
      await vi.waitFor(async () => {
        expect((await getStatus(address))?.events).toBeGreaterThan(1)
      }, soon)
      const link = await linkTo(natsServer.url)
      const clock = { now: () => Date.now() as EpochMs }
      const outcomes = natsOutcomeSink(link)
      const source = natsCommandSource(link, { clock, concluded: memoryConcludedCommands() })
      const asked: string[] = []
      const adapter = source.subscribe(cellName, 'fleet', async ({ attempt, verb, workload }) => {
        asked.push(`${verb} ${workload}`)
        const data = { attempt, outcome: 'succeeded', workload } as const
        const end = { source: 'fleet', id: `${workload}/ended`, type: 'AttemptEnded', at: clock.now(), data } as const
        setTimeout(() => void outcomes.tell(cellName, 'fleet', [end])(), 200)
        return Promise.resolve({ outcome: 'done', reason: null })
      })
      const requester = natsRequester(link)
      const ask = async (verb: 'submit' | 'why', question: object): Promise<unknown> =>
        JSON.parse(await right(requester.ask(verb, JSON.stringify(question), 20_000)))
      expect(await ask('submit', { intents: intentOf('sweep', 8, '10m'), actor: 'u-1' })).toMatchObject([
        { workload: 'sweep' },
      ])
      await vi.waitFor(async () => {
        expect(JSON.stringify(await ask('why', { workload: 'sweep' }))).toContain('succeeded')
      }, soon)
      expect(asked).toEqual(['start sweep'])
      const decided: string[] = []
      const reading = read(bus, ({ subject, type }) => decided.push(`${type} ${subject}`))
      await vi.waitFor(() => {
        expect(decided).toContain('dev.leasehold.workload.admitted.v1 sweep')
      }, soon)
      expect(await getStatus(address)).toMatchObject({ degraded: [], running: { adapter: 'nats: fleet' } })
      await Promise.all([reading.stop(), adapter.stop()])
      kill('SIGTERM')
      expect(await ended).toBe(0)
      await Promise.all([bus.close(), link.close()])
      await natsServer.end()
    })

    it('should wait while another system decides for the cell, and go on when that one stops', async () => {
      const { bus, natsServer, words } = await servers()
      const [first, second] = [folder(), folder()]
      const before = await up([...words, '--views', 'none', '--data', first])
      let isUp = false
      const after = up([...words, '--views', 'none', '--data', second]).then((system) => {
        isUp = true
        return system
      })
      await new Promise((resolve) => setTimeout(resolve, 4_000))
      expect(isUp).toBe(false)
      before.kill('SIGTERM')
      expect(await before.ended).toBe(0)
      const { address, ended, kill } = await after
      expect(await getStatus(address)).toMatchObject({ degraded: [] })
      kill('SIGTERM')
      expect(await ended).toBe(0)
      await bus.close()
      await natsServer.end()
    })

    describeOnData('the openb list on 48 GPUs', () => {
      it('should come to the log digest of the embedded run', async () => {
        const data = folder()
        await simulated(openbOn(48, 'greedy'), data)
        const lines = await inputsOf(data, join(folder(), 'inputs.ndjson'))
        const { digest, events, facts } = await answered(lines.map(factIn))
        expect(facts.length).toBeGreaterThan(lines.length)
        const { bus, natsServer, words } = await servers()
        await right(bus.ensure(ingestTopicPlans(3)))
        for (const [topic, messages] of messagesOf(facts))
          for (let at = 0; at < messages.length; at += 1_000)
            await right(bus.publish(topic, messages.slice(at, at + 1_000)))
        const fresh = folder()
        const { address, ended, kill } = await up([...words, '--clock', 'events', '--data', fresh])
        await vi.waitFor(async () => {
          expect((await getStatus(address))?.events).toBeGreaterThanOrEqual(events)
        }, soon)
        await vi.waitFor(async () => {
          expect((await getStatus(address))?.views?.lagEvents).toBe(0)
        }, soon)
        expect(await getStatus(address)).toMatchObject({ events, degraded: [], deadLetters: 0 })
        const submitted = facts.filter(({ type }) => type === 'WorkloadSubmitted').length
        const counted = 'SELECT count(), countIf(ended_at IS NOT NULL) > 0 FROM workloads'
        expect((await postSql(address, counted))?.rows).toEqual([[submitted, 1]])
        const decided = new Set<string>()
        const reading = read(bus, ({ id }) => decided.add(id))
        await vi.waitFor(() => {
          expect(decided.size).toBe(events - facts.length)
        }, soon)
        await reading.stop()
        kill('SIGTERM')
        expect(await ended).toBe(0)
        expect((await storedIn(fresh)).digest).toBe(digest)
        await bus.close()
        await natsServer.end()
      })
    })
  })
})
