import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import type { BusMessage, MessageBus } from '../../domain/ports/message-bus.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import type { ServerProcess } from '../../infra/stack/server-process.ts'
import type { DecisionMessage } from '../../projections/decisions/decision-message.ts'
import { factTopics } from '../../services/ingest/bus-ingest.ts'
import { decisionsTopic } from '../../services/publish/decision-outbox.ts'
import { jobProcesses, logsOf, startAdapterProcess, type AdapterProcess } from '../support/adapter-process.ts'
import { until } from '../support/commands.ts'
import { right } from '../support/events.ts'
import { numbersFrom } from '../support/fact-script.ts'
import { kafkaPlaceOf } from '../support/kafka-place.ts'
import { natsKinds, startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { scoped } from '../support/scope.ts'
import { describeOnKafka } from '../support/servers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { cellName, submission } from '../support/up-cell.ts'
import { getState, getStatus, postRebuild } from '../support/up-client.ts'
import { storedIn } from '../support/up-stored.ts'
import { upVerb, type UpVerb } from '../support/up-verb.ts'

/** What happens, by one seed; another by hand. */
const seed = Number(process.env['LEASEHOLD_FAULT_SEED'] ?? 11)
const runs = scoped(10, 200)
const perRun = 5
const settleMaxMs = 90_000

const folder = tempFolder()
const up = upVerb()
const [nats] = natsKinds.slice(-1)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Everything that runs, and what may happen to it. */
class Fleet {
  readonly bus: MessageBus
  readonly told: BusMessage[] = []
  readonly names: string[] = []
  readonly data = folder()
  readonly adapterData = folder()
  private readonly kafka: ServerProcess
  private readonly natsServer: NatsServer
  system!: UpVerb
  private adapter!: AdapterProcess

  constructor(kafka: ServerProcess, natsServer: NatsServer) {
    this.kafka = kafka
    this.natsServer = natsServer
    this.bus = kafkaMessageBus(kafkaPlaceOf(this.broker))
  }

  private get broker(): string {
    return this.kafka.launch.urls['kafka']!
  }

  async startUp(): Promise<void> {
    const buses = ['--kafka', `kafka://${this.broker}`, '--nats', this.natsServer.url, '--adapter', 'nats']
    this.system = await up([...buses, '--data', this.data])
  }

  async startAdapter(): Promise<void> {
    const where = ['--nats', this.natsServer.url, '--data', this.adapterData]
    this.adapter = await startAdapterProcess([...where, '--fleet', '4x8', '--jobs', 'docs/examples/jobs'])
  }

  async submit(name: string, devices: number): Promise<void> {
    const { data, ...rest } = submission(name, devices, Date.now(), 300)
    const fact = { source: 'test', ...rest, data: { ...data, class: 'checkpointing' } } as never
    const message = { key: name, headers: {}, value: Buffer.from(encodeFact(fact)) }
    await this.publish([message])
    this.names.push(name)
    this.told.push(message)
  }

  private async publish(messages: ReadonlyArray<BusMessage>): Promise<void> {
    const [topic = ''] = factTopics
    while (E.isLeft(await this.bus.publish(topic, messages)())) await pause(200)
  }

  /** By what happens. */
  readonly mishaps: { readonly [what: string]: () => Promise<unknown> } = {
    'up is killed': async () => {
      this.system.kill('SIGKILL')
      await this.system.ended
      await this.startUp()
    },
    'the adapter is killed': async () => {
      await this.adapter.end('SIGKILL')
      await this.startAdapter()
    },
    'Kafka is killed': async () => {
      await this.kafka.kill()
      await right(this.kafka.restart())
    },
    'NATS is killed': async () => {
      await this.natsServer.kill()
      await this.natsServer.start()
    },
    'Kafka hangs': async () => {
      this.kafka.suspend()
      await pause(4_000)
      this.kafka.resume()
    },
    'up hangs': () => this.hang(this.system.pid),
    'the adapter hangs, and what it has is given again': () => this.hang(this.adapter.pid),
    'all facts come again': () => this.publish(this.told),
    'partitions are dealt out anew in the middle of a batch': async () => {
      const stranger = kafkaMessageBus(kafkaPlaceOf(this.broker))
      // It takes batches in hand and never handles them.
      const handle = () => pause(2_000).then(() => 0)
      const member = stranger.subscribe({ group: `leasehold-${cellName}`, topics: factTopics, handle })
      await pause(4_000)
      await member.stop()
      await stranger.close()
    },
    'up and the adapter are killed together': async () => {
      this.system.kill('SIGKILL')
      await Promise.all([this.system.ended, this.adapter.end('SIGKILL')])
      await Promise.all([this.startUp(), this.startAdapter()])
    },
  }

  private async hang(pid: number): Promise<void> {
    process.kill(pid, 'SIGSTOP')
    await pause(7_000)
    process.kill(pid, 'SIGCONT')
  }

  /** All that was submitted has come to its end. */
  async settled(): Promise<void> {
    let left = [...this.names]
    await until(async () => {
      const still: string[] = []
      for (const name of left) if ((await getState(this.system.address, name))?.state !== 'succeeded') still.push(name)
      left = still
      return left.length === 0
    }, settleMaxMs)
  }

  async end(): Promise<void> {
    await this.adapter.end('SIGKILL')
    for (const pid of jobProcesses(this.adapterData)) process.kill(pid, 'SIGKILL')
    await this.bus.close()
    await this.natsServer.end()
  }
}

/** Each kind once, in an order by the seed, before one comes again. */
function* happening(kinds: ReadonlyArray<string>, below: (bound: number) => number): Generator<string, never> {
  for (;;) {
    const left = [...kinds]
    while (left.length > 0) yield left.splice(below(left.length), 1)[0]!
  }
}

await describeOnKafka('a system, its adapter, Kafka and NATS under mishaps', (startKafka) => {
  describe.skipIf(nats!.program === null)(`with ${nats!.name}`, () => {
    it(
      `should lose nothing, do nothing twice and balance, over ${runs} runs (seed ${seed})`,
      { timeout: runs * (settleMaxMs + 30_000) },
      async () => {
        const below = numbersFrom(seed)
        const fleet = new Fleet(await startKafka(), await startNatsServer(nats!.program!))
        await fleet.startUp()
        await fleet.startAdapter()
        const kinds = happening(Object.keys(fleet.mishaps), below)
        for (let run = 0; run < runs; run++) {
          const what = kinds.next().value
          const began = performance.now()
          const submitting = async (): Promise<void> => {
            for (let i = 0; i < perRun; i++) {
              await fleet.submit(`job-${run}-${i}`, 1 + below(8))
              await pause(below(400))
            }
          }
          const mishap = pause(below(800)).then(fleet.mishaps[what])
          await Promise.all([submitting(), mishap])
          await fleet.settled().catch((cause: unknown) => {
            throw new Error(`run ${run}: ${what}`, { cause })
          })
          console.info(`run ${run}: ${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s`)
        }

        const { address, ended, kill } = fleet.system
        await until(async () => (await getStatus(address))?.views?.lagEvents === 0)
        for (const { hashAfter, hashBefore, rowsAfter, rowsBefore, table } of (await postRebuild(address))!)
          expect({ table, rows: rowsBefore, hash: hashBefore }).toEqual({ table, rows: rowsAfter, hash: hashAfter })
        expect(await getStatus(address)).toMatchObject({ degraded: [], deadLetters: 0, running: { openCommands: 0 } })
        kill('SIGTERM')
        expect(await ended).toBe(0)

        const { events } = await storedIn(fleet.data)
        const decisions = events.filter(({ message }) => !isInput(message as unknown as CellEvent))
        const ids = new Set(events.map(({ id }) => id))
        for (const name of fleet.names) expect(ids, name).toContain(`submit/${name}`)
        const concluded = events.flatMap(({ message }) =>
          message.type === 'CommandConcluded' ? [message.data['command'] as string] : [],
        )
        expect(concluded.toSorted()).toEqual([...new Set(concluded)].toSorted())
        for (const name of fleet.names)
          for (const lines of logsOf(fleet.adapterData, name))
            expect(
              lines.filter((line) => line.startsWith('from step')),
              name,
            ).toHaveLength(1)
        expect(await published(fleet.bus, decisions.length)).toEqual(new Set(decisions.map(({ id }) => id)))
        await fleet.end()
      },
    )
  })
})

/** Ids of the decisions that others have been told, each at least once. */
const published = async (bus: MessageBus, count: number): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>()
  const { stop } = bus.subscribe({
    group: 'reader',
    topics: [decisionsTopic],
    handle: ({ messages }) => {
      for (const { value } of messages) ids.add((JSON.parse(Buffer.from(value!).toString()) as DecisionMessage).id)
      return Promise.resolve(messages.length)
    },
  })
  await until(() => ids.size >= count)
  await stop()
  return ids
}
