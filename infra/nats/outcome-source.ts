import { either as E } from 'fp-ts'
import type { JsMsg } from 'nats'
import { adapterFactObjection } from '../../domain/planner/adapter-fact.ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { OutcomeSource } from '../../domain/ports/outcome-source.ts'
import { Consumption } from './consumption.ts'
import { keepDeadLetter } from './dead-letter.ts'
import { InHand } from './in-hand.ts'
import { Rest } from '../host/rest.ts'
import type { NatsLink } from './link.ts'
import { tokenOf } from './subject.ts'

export interface OutcomeOptions {
  readonly ackWaitMs?: number
  /** Facts that are given at once, and held at once. */
  readonly batchMax?: number
}

const backOffMinMs = 100
const backOffMaxMs = 5_000
const stopWaitMaxMs = 5_000

/** What adapters tell a cell. Held until it is taken, so that nothing overtakes what the cell could not take yet. */
export const natsOutcomeSource = (link: NatsLink, options: OutcomeOptions = {}): OutcomeSource => ({
  subscribe: (cell, take) => new Outcomes(link, cell, take, options),
})

class Outcomes implements BusDelivery {
  private readonly link: NatsLink
  private readonly takeLines: Parameters<OutcomeSource['subscribe']>[1]
  private readonly consumption: Consumption
  private readonly inHand: InHand
  private readonly waiting: JsMsg[] = []
  private readonly batchMax: number
  private draining: Promise<void> | null = null
  private stopped = false
  private readonly rest = new Rest()

  constructor(
    link: NatsLink,
    cell: string,
    take: Parameters<OutcomeSource['subscribe']>[1],
    { ackWaitMs = 30_000, batchMax = 256 }: OutcomeOptions,
  ) {
    this.link = link
    this.takeLines = take
    this.batchMax = batchMax
    this.inHand = new InHand(ackWaitMs)
    this.consumption = new Consumption(link, {
      stream: 'outcome',
      durable: tokenOf(cell),
      filter: `${link.subject('outcome', cell)}.*`,
      inHandMax: 2 * batchMax,
      ackWaitMs,
      take: (message) => {
        this.inHand.add(message)
        this.waiting.push(message)
        this.draining ??= this.drain().finally(() => (this.draining = null))
      },
    })
  }

  get fault() {
    return this.consumption.fault
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.rest.end()
    await this.consumption.stop()
    await this.draining
    for (const message of this.waiting.splice(0)) this.inHand.remove(message)
    await this.inHand.end(stopWaitMaxMs)
  }

  private async drain(): Promise<void> {
    // What else comes in this turn shares the flush.
    await new Promise(setImmediate)
    while (this.waiting.length > 0 && !this.stopped) {
      const batch = this.waiting.splice(0, this.batchMax)
      await this.take(batch)
      for (const message of batch) this.inHand.remove(message)
    }
  }

  private async take(batch: ReadonlyArray<JsMsg>): Promise<void> {
    const good: JsMsg[] = []
    const lines: string[] = []
    for (const message of batch) {
      // A line feed between the members of a JSON text is a blank, and anywhere else the text is none.
      const line = message.string().replaceAll(/[\r\n]+/g, ' ')
      const objection = adapterFactObjection(line)
      if (objection === null) {
        good.push(message)
        lines.push(line)
      } else await this.bury(message, objection)
    }
    for (let waitMs = backOffMinMs; lines.length > 0; waitMs = Math.min(2 * waitMs, backOffMaxMs)) {
      const taken = await this.takeLines(lines)
      if (E.isRight(taken)) break
      if (this.stopped) return
      await this.rest.for(waitMs)
    }
    for (const message of good) message.ack()
  }

  private async bury(message: JsMsg, reason: string): Promise<void> {
    const kept = await keepDeadLetter(this.link, 'outcome', message, reason)
    if (E.isLeft(kept)) message.nak(backOffMaxMs)
    else message.term()
  }
}
