import { either as E } from 'fp-ts'
import type { JsMsg } from 'nats'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandSource } from '../../domain/ports/command-source.ts'
import type { ConcludedCommands } from '../../domain/ports/concluded-commands.ts'
import { CommandTurns } from '../host/command-turns.ts'
import { Consumption } from './consumption.ts'
import { keepDeadLetter } from './dead-letter.ts'
import { InHand } from './in-hand.ts'
import type { NatsLink } from './link.ts'
import { tokenOf } from './subject.ts'

export interface SourceOptions {
  readonly clock: Clock
  readonly concluded: ConcludedCommands
  readonly deliveriesMax?: number
  /** Commands that are handled at once. */
  readonly inHandMax?: number
  /** A process that is gone for so long has its commands given to the next. */
  readonly ackWaitMs?: number
  /** Before a command whose handling failed comes again; twice as long each time. */
  readonly againAfterMs?: number
  /** Told why a handling failed, or what went to the dead letters. */
  readonly troubled?: (reason: string) => void
}

const againMaxMs = 30_000
const stopWaitMaxMs = 1_000

/** Commands from the work queue of one adapter; outcomes are kept for the cell before a command is let go of. */
export const natsCommandSource = (link: NatsLink, options: SourceOptions): CommandSource => ({
  subscribe: (cell, adapter, handle) => {
    const { ackWaitMs = 30_000, againAfterMs = 1_000, inHandMax = 256, deliveriesMax = 5, clock, concluded } = options
    const turns = new CommandTurns({ adapter, clock, concluded, deliveriesMax, handle })
    const inHand = new InHand(ackWaitMs)
    const taken = new TakenCommands(link, turns, { cell, adapter, againAfterMs, troubled: options.troubled ?? noted })
    const consumption = new Consumption(link, {
      stream: 'cmd',
      durable: `${tokenOf(cell)}_${tokenOf(adapter)}`,
      filter: `${link.subject('cmd', cell, adapter)}.*`,
      inHandMax,
      ackWaitMs,
      take: (message) => {
        inHand.add(message)
        void taken.take(message).finally(() => {
          inHand.remove(message)
        })
      },
    })
    return delivery(consumption, () => inHand.end(stopWaitMaxMs))
  },
})

const noted = (): void => undefined

const delivery = (consumption: Consumption, end: () => Promise<void>): BusDelivery => ({
  get fault() {
    return consumption.fault
  },
  stop: async () => {
    await consumption.stop()
    await end()
  },
})

interface Taking {
  readonly cell: string
  readonly adapter: string
  readonly againAfterMs: number
  readonly troubled: (reason: string) => void
}

class TakenCommands {
  private readonly link: NatsLink
  private readonly turns: CommandTurns
  private readonly taking: Taking

  constructor(link: NatsLink, turns: CommandTurns, taking: Taking) {
    this.link = link
    this.turns = turns
    this.taking = taking
  }

  /** Never throws: what cannot be finished now is delivered again. */
  async take(message: JsMsg): Promise<void> {
    const { againAfterMs, adapter, cell, troubled } = this.taking
    const deliveries = message.info.deliveryCount
    const verdict = await this.turns.take(message.string(), deliveries)
    if (verdict.type !== 'told') troubled(verdict.reason)
    const finished =
      verdict.type === 'told'
        ? await this.link.publish(
            'outcome',
            this.link.subject('outcome', cell, adapter),
            verdict.fact.id,
            encodeFact(verdict.fact),
          )
        : verdict.type === 'dead'
          ? await keepDeadLetter(this.link, 'cmd', message, verdict.reason)
          : null
    // What could not be told or kept is answered from memory when it comes again.
    if (finished === null || E.isLeft(finished)) message.nak(Math.min(againAfterMs * 2 ** (deliveries - 1), againMaxMs))
    else if (verdict.type === 'dead') message.term()
    else message.ack()
  }
}
