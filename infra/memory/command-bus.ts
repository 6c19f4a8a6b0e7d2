import { either as E, taskEither as TE } from 'fp-ts'
import { encodeFact, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { adapterFactObjection } from '../../domain/planner/adapter-fact.ts'
import { beginsUntil, commandKey, encodeCommand } from '../../domain/planner/command-event.ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandSink } from '../../domain/ports/command-sink.ts'
import type { CommandSource } from '../../domain/ports/command-source.ts'
import type { ConcludedCommands } from '../../domain/ports/concluded-commands.ts'
import type { OutcomeSink } from '../../domain/ports/outcome-sink.ts'
import type { OutcomeSource } from '../../domain/ports/outcome-source.ts'
import { CommandTurns } from '../host/command-turns.ts'

export interface DeadLetter {
  readonly origin: string
  readonly body: string
  readonly reason: string
}

interface Queued {
  readonly id: string
  readonly body: string
  deliveries: number
}

/** A work queue: each message is given to one taker until that has let go of it. An id is remembered for a while. */
class Queue {
  private waiting: Queued[] = []
  private readonly ids = new Map<string, number>()
  private taker: ((message: Queued) => void) | null = null

  add(id: string, body: string, now: number, windowMs: number): 'sent' | 'duplicate' {
    const before = this.ids.get(id)
    if (before !== undefined && now - before < windowMs) return 'duplicate'
    this.ids.set(id, now)
    this.give({ id, body, deliveries: 0 })
    return 'sent'
  }

  give(message: Queued): void {
    if (this.taker === null) this.waiting.push(message)
    else {
      message.deliveries++
      this.taker(message)
    }
  }

  take(taker: ((message: Queued) => void) | null): void {
    this.taker = taker
    for (const message of taker === null ? [] : this.waiting.splice(0)) this.give(message)
  }
}

export interface MemoryBusOptions {
  readonly clock: Clock
  readonly duplicateMs?: number
  readonly againAfterMs?: number
  readonly deliveriesMax?: number
}

/** Commands and outcomes within one process, for tests: the promises of the ports, and no more. */
export class MemoryCommandBus implements OutcomeSink, OutcomeSource {
  readonly deadLetters: DeadLetter[] = []
  private readonly options: MemoryBusOptions
  private readonly queues = new Map<string, Queue>()

  constructor(options: MemoryBusOptions) {
    this.options = options
  }

  sink(adapter: string): CommandSink {
    const { clock, duplicateMs = 120_000 } = this.options
    return {
      send: (command) =>
        TE.fromIO(() => {
          const body = encodeCommand({ command, until: beginsUntil(command, clock.now()) })
          return this.queue('cmd', command.cell, adapter).add(commandKey(command), body, clock.now(), duplicateMs)
        }),
    }
  }

  /** What somebody sent who is none of ours. */
  inject(kind: 'cmd' | 'outcome', cell: string, adapter: string, body: string): void {
    const queue = kind === 'cmd' ? this.queue(kind, cell, adapter) : this.queue(kind, cell)
    queue.give({ id: '', body, deliveries: 0 })
  }

  source(concluded: ConcludedCommands): CommandSource {
    const { againAfterMs = 1_000, clock, deliveriesMax = 5 } = this.options
    return {
      subscribe: (cell, adapter, handle) => {
        const turns = new CommandTurns({ adapter, clock, concluded, deliveriesMax, handle })
        const queue = this.queue('cmd', cell, adapter)
        let stopped = false
        const take = async (message: Queued): Promise<void> => {
          const verdict = await turns.take(message.body, message.deliveries)
          if (stopped) queue.give(message)
          else if (verdict.type === 'told') await this.tell(cell, adapter, [verdict.fact])()
          else if (verdict.type === 'dead') this.bury('cmd', message.body, verdict.reason)
          else
            setTimeout(() => {
              queue.give(message)
            }, againAfterMs)
        }
        queue.take((message) => void take(message))
        return stopping(() => {
          stopped = true
          queue.take(null)
        })
      },
    }
  }

  tell(cell: string, adapter: string, facts: ReadonlyArray<SourcedFact>): TE.TaskEither<never, void> {
    return TE.fromIO(() => {
      const { clock, duplicateMs = 120_000 } = this.options
      for (const fact of facts)
        this.queue('outcome', cell).add(`${adapter}/${fact.id}`, encodeFact(fact), clock.now(), duplicateMs)
    })
  }

  subscribe(cell: string, take: Parameters<OutcomeSource['subscribe']>[1]): BusDelivery {
    const queue = this.queue('outcome', cell)
    let stopped = false
    let before: Promise<void> = Promise.resolve()
    const record = async (message: Queued): Promise<void> => {
      const objection = adapterFactObjection(message.body)
      if (objection !== null) {
        this.bury('outcome', message.body, objection)
        return
      }
      while (!stopped && E.isLeft(await take([message.body])))
        await new Promise((resolve) => setTimeout(resolve, this.options.againAfterMs ?? 1_000))
      if (stopped) queue.give(message)
    }
    queue.take((message) => {
      before = before.then(() => record(message))
    })
    return stopping(() => {
      stopped = true
      queue.take(null)
    })
  }

  private queue(...names: ReadonlyArray<string>): Queue {
    const key = JSON.stringify(names)
    const queue = this.queues.get(key) ?? new Queue()
    this.queues.set(key, queue)
    return queue
  }

  private bury(origin: string, body: string, reason: string): void {
    this.deadLetters.push({ origin, body, reason })
  }
}

const stopping = (stop: () => void): BusDelivery => ({
  fault: null,
  stop: () => {
    stop()
    return Promise.resolve()
  },
})
