import { either as E } from 'fp-ts'
import { ErrorCode, type Msg, type NatsError, type Subscription } from 'nats'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { Answering, Requester, RequestResponder, RequestVerb } from '../../domain/ports/requests.ts'
import { nobodyThere, tooLate } from '../host/no-reply.ts'
import { faultOf, isCode } from './fault.ts'
import type { NatsLink } from './link.ts'

/** Questions that one process works on at once. */
const inHandMax = 64

/** Plain request and reply: a question that nobody hears is not kept. */
export const natsResponder = (link: NatsLink): RequestResponder => ({
  answer: (verb, answering) => new Answers(link, verb, answering),
})

export const natsRequester = (link: NatsLink): Requester => ({
  ask: (verb, question, withinMs) => async () => {
    if (link.fault !== null) return E.left(link.fault)
    try {
      const reply = await link.connection.request(link.subject('rpc', verb), question, { timeout: withinMs })
      return E.right(reply.string())
    } catch (cause) {
      if (isCode(cause, ErrorCode.NoResponders)) return E.left(nobodyThere(verb))
      if (isCode(cause, ErrorCode.Timeout)) return E.left(tooLate(verb, withinMs))
      return E.left(faultOf(link.place, cause))
    }
  },
})

class Answers implements BusDelivery {
  private readonly link: NatsLink
  private readonly answering: Answering
  private readonly subscription: Subscription
  private readonly inHand = new Set<Promise<void>>()
  private failing: BusUnavailable | null = null

  constructor(link: NatsLink, verb: RequestVerb, answering: Answering) {
    this.link = link
    this.answering = answering
    this.subscription = link.connection.subscribe(link.subject('rpc', verb), {
      queue: link.place.prefix,
      callback: (error, message) => {
        this.take(error, message)
      },
    })
  }

  get fault(): BusUnavailable | null {
    return this.link.fault ?? this.failing
  }

  /** What is in hand is answered first. */
  async stop(): Promise<void> {
    if (!this.subscription.isClosed()) this.subscription.unsubscribe()
    await Promise.all(this.inHand)
    if (!this.link.connection.isClosed()) await this.link.connection.flush()
  }

  private take(error: NatsError | null, message: Msg): void {
    if (error !== null) {
      this.failing = faultOf(this.link.place, error)
      return
    }
    if (this.inHand.size >= inHandMax) {
      respond(message, failure('busy', `${inHandMax} questions are in hand`, 'ask again in a moment'))
      return
    }
    const work = this.answer(message)
    this.inHand.add(work)
    void work.finally(() => this.inHand.delete(work))
  }

  private async answer(message: Msg): Promise<void> {
    let answer: string
    try {
      answer = await this.answering(message.string())
    } catch {
      answer = failure('internal', 'a fault of Leasehold itself', 'try again; if it stays, tell us')
    }
    respond(message, answer)
  }
}

/** Never throws: who cannot be answered hears nothing. */
const respond = (message: Msg, answer: string): void => {
  try {
    message.respond(answer)
  } catch (cause) {
    if (isCode(cause, ErrorCode.MaxPayloadExceeded))
      message.respond(failure('too-large', 'the answer is larger than the server takes', 'ask over HTTP'))
  }
}

const failure = (code: string, reason: string, mend: string): string =>
  JSON.stringify({ error: { code, reason, mend } })
