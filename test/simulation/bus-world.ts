import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import type { BusMessage, MessageBus } from '../../domain/ports/message-bus.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { memoryMessageBus } from '../../infra/memory/message-bus.ts'
import type { DecisionMessage } from '../../projections/decisions/decision-message.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { busIngest, factTopics, ingestTopicPlans } from '../../services/ingest/bus-ingest.ts'
import { decisionOutbox, decisionsTopic } from '../../services/publish/decision-outbox.ts'
import { right } from '../support/events.ts'
import { factScript, lineOf, numbersFrom } from '../support/fact-script.ts'
import { faultyLog } from './faulty-log.ts'
import { KeptSnapshots } from './kept-snapshots.ts'
import { Lifeline, type Chance } from './lifeline.ts'
import { VirtualTime } from './virtual-time.ts'
import { openWayIn } from './way-in.ts'
import { calm, type Weather } from './weather.ts'

const cell = 'cell-default'
const begin = Date.UTC(2026, 7, 3, 9, 0)
const troubleMs = 600
const restMaxMs = 600_000
type Script = ReadonlyArray<readonly [id: string, input: CellInput]>

export interface BusOutcome {
  readonly kills: number
  readonly events: number
  /** Decisions that were published more than once. */
  readonly repeated: number
  readonly wrong: ReadonlyArray<string>
}

/** Facts that lie on a bus, in partitions of their own and some of them twice, and processes that record them and tell what was decided. */
class BusWorld {
  private readonly below: Chance
  private readonly time = new VirtualTime(begin)
  private readonly weather: Weather = calm()
  private readonly lines: string[] = []
  private readonly log = memoryEventLog(this.lines)
  private readonly bus = memoryMessageBus(() => this.time.now as EpochMs)
  private readonly snapshots = new KeptSnapshots()
  private published = -1
  private kills = 0
  private isOver = false

  constructor(seed: number) {
    this.below = numbersFrom(seed)
  }

  async run(script: Script): Promise<BusOutcome> {
    const embedded = await told(script)
    this.time.install()
    try {
      await this.publish(script)
      const minding = this.keepRunning()
      await this.time.run(begin + troubleMs)
      Object.assign(this.weather, calm())
      const last = embedded.events - 1
      await this.time.run(begin + restMaxMs, () => this.lines.length > last && this.published >= last)
      const outcome = await this.outcome(embedded.digest)
      this.isOver = true
      this.end()
      await this.time.run(this.time.now + 1_000)
      await minding
      return outcome
    } finally {
      this.time.uninstall()
    }
  }

  private async publish(script: Script): Promise<void> {
    await right(this.bus.ensure([...ingestTopicPlans(1 + this.below(4)), { topic: decisionsTopic, partitions: 1 }]))
    const keys = 1 + this.below(8)
    for (const [sequence, [id, input]] of script.entries()) {
      const topic = factTopics[input.type === 'NodeRegistered' ? 1 : 0]!
      const message: BusMessage = {
        key: `key-${sequence % keys}`,
        headers: { sequence: String(sequence) },
        value: Buffer.from(lineOf(id, input)),
      }
      const times = this.below(8) === 0 ? 2 : 1
      for (let i = 0; i < times; i++) await right(this.bus.publish(topic, [message]))
    }
  }

  private end: () => void = () => undefined

  private async keepRunning(): Promise<void> {
    while (!this.isOver) {
      const line = new Lifeline(this.time, this.below)
      this.end = () => {
        line.end()
      }
      if (this.time.now < begin + troubleMs) {
        this.weather.log = this.below(2) === 0
        void this.time.wait(2 + this.below(60)).then(() => {
          if (this.time.now >= begin + troubleMs || line.dead) return
          this.kills += 1
          line.end()
        })
      }
      await Promise.race([this.startLife(line), line.died])
      await line.died
      await this.time.wait(this.below(50))
    }
  }

  private async startLife(line: Lifeline): Promise<void> {
    const log = faultyLog(this.log, line, this.weather, this.below)
    const clock = { now: () => this.time.now as EpochMs }
    const snapshots = this.snapshots.of(line)
    const recordTime = (at: EpochMs) => at
    const wayIn = await openWayIn(line, log, { stream: cell, recordTime, clock, ticks: 'events', snapshots })
    if (wayIn === null) {
      line.end()
      return
    }
    const { intake } = wayIn
    const bus = this.busOf(line)
    const reading = busIngest({ bus, intake, group: 'leasehold', gatherMaxMs: 50 })
    line.onEnd(() => reading.stop())
    const outbox = decisionOutbox({
      bus,
      log,
      checkpoint: {
        load: () => line.outside(() => this.published),
        save: (position) =>
          line.outside(() => {
            this.published = Math.max(this.published, position)
          }),
      },
    })
    line.onEnd(() => outbox.stop())
  }

  /** The bus as one process has it: with its death it leaves its group, and what it had in hand is not done. */
  private busOf(line: Lifeline): MessageBus {
    const { bus } = this
    const died = async () => {
      await line.died
      throw new Error('the process has died')
    }
    return {
      ...bus,
      publish: (topic, messages) => () => line.outside(() => bus.publish(topic, messages)()),
      subscribe: (reader) =>
        bus.subscribe({ ...reader, handle: (batch) => Promise.race([reader.handle(batch), died()]) }),
    }
  }

  private async outcome(digest: string): Promise<BusOutcome> {
    const wrong: string[] = []
    if ((await right(digestOf(this.log))) !== digest)
      wrong.push('the log has another digest than the same facts told directly')
    const events = await right(this.log.readAll(0, 1_000_000))
    const decided = events.filter(({ causation }) => causation !== null).map(({ id }) => id)
    const seen = await this.decisionsSeen()
    const firsts = [...new Set(seen)]
    if (firsts.join('\n') !== decided.join('\n')) wrong.push('what was published is not what was decided, in its order')
    return { kills: this.kills, events: events.length, repeated: seen.length - firsts.length, wrong }
  }

  /** As a reader that comes later has them. */
  private async decisionsSeen(): Promise<ReadonlyArray<string>> {
    const seen: string[] = []
    const reading = this.bus.subscribe({
      group: 'reader',
      topics: [decisionsTopic],
      handle: ({ messages }) => {
        for (const { value } of messages) seen.push((JSON.parse(Buffer.from(value!).toString()) as DecisionMessage).id)
        return Promise.resolve(messages.length)
      },
    })
    await this.time.run(this.time.now + 1_000)
    await reading.stop()
    return seen
  }
}

/** What the log comes to when a cell is told the same in order, and nothing goes wrong. */
const told = async (script: Script): Promise<{ readonly digest: string; readonly events: number }> => {
  const lines: string[] = []
  const log = memoryEventLog(lines)
  const recording = { stream: cell, source: 'script', actor: 'script', recordTime: (at: EpochMs) => at }
  const writer = await right(() => CellWriter.open(log, recording))
  for (const [id, input] of script) writer.take(input, id)
  await right(() => writer.flush())
  return { digest: await right(digestOf(log)), events: lines.length }
}

export const runBusWorld = async (seed: number): Promise<BusOutcome> =>
  new BusWorld(seed).run(await factScript(seed, 10 + (seed % 30)))
