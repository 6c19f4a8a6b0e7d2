import { setMaxListeners } from 'node:events'
import { NotLeaderError } from '@eventstore/db-client'
import { EventStoreClient } from './client.ts'
import { drained, givenUp, type Delivery } from './delivery.ts'
import { isAnswer, NoAnswer } from './fault.ts'
import type { EventStorePlace } from './place.ts'
import type { Recorded } from './recorded.ts'

const backOffMinMs = 50
const backOffMaxMs = 5_000

/** Waits between attempts, ever longer; ends early when the link is closed. */
export interface BackOff {
  readonly rest: () => Promise<void>
  readonly reset: () => void
}

/**
 * The way to the server. A client that did not get an answer is given up for a new one, which looks for the leader anew: the
 * vendor's own clings to the one that it has for as long as that keeps silent.
 */
export class Link {
  readonly place: EventStorePlace
  private current: EventStoreClient | null = null
  private ending: Promise<void> = Promise.resolve()
  private readonly closing = new AbortController()

  constructor(place: EventStorePlace) {
    this.place = place
    setMaxListeners(0, this.closing.signal) // One for each wait.
  }

  get closed(): boolean {
    return this.closing.signal.aborted
  }

  /** One call, within the deadline. @throws NoAnswer, and what the client throws */
  async ask<A>(call: (client: EventStoreClient) => Promise<A>): Promise<A> {
    const client = await this.client()
    const { deadlineMs } = this.place
    let stop: () => void = () => undefined
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        reject(new NoAnswer(`no answer in ${deadlineMs} ms`))
      }, deadlineMs)
      const leave = (): void => {
        reject(new NoAnswer(givenUp))
      }
      client.ended.addEventListener('abort', leave)
      stop = () => {
        clearTimeout(timer)
        client.ended.removeEventListener('abort', leave)
      }
    })
    try {
      return await Promise.race([call(client), late])
    } catch (cause) {
      this.leaveUnless(cause, client)
      throw cause
    } finally {
      stop()
    }
  }

  /** A call that changes nothing, again and again until the deadline has passed. */
  async read<A>(call: (client: EventStoreClient) => Promise<A>): Promise<A> {
    const until = performance.now() + this.place.deadlineMs
    const backOff = this.backOff()
    for (;;) {
      try {
        return await this.ask(call)
      } catch (cause) {
        if (isAnswer(cause) || this.closed || performance.now() > until) throw cause
        await backOff.rest()
      }
    }
  }

  /** Follows a stream for as long as it is delivered; throws when that ends. */
  async follow(open: (client: EventStoreClient) => Delivery, take: (recorded: Recorded) => void): Promise<void> {
    const client = await this.client()
    try {
      for await (const recorded of drained(client, open)) take(recorded)
      throw new NoAnswer('the server has ended the subscription')
    } catch (cause) {
      this.leaveUnless(cause, client)
      throw cause
    }
  }

  backOff(): BackOff {
    let ms = backOffMinMs
    const { signal } = this.closing
    return {
      rest: () =>
        new Promise((resolve) => {
          const timer = setTimeout(done, ms)
          ms = Math.min(2 * ms, backOffMaxMs)
          function done(): void {
            clearTimeout(timer)
            signal.removeEventListener('abort', done)
            resolve()
          }
          if (signal.aborted) done()
          else signal.addEventListener('abort', done)
        }),
      reset: () => (ms = backOffMinMs),
    }
  }

  async close(): Promise<void> {
    this.closing.abort()
    await this.ending
    await this.current?.end()
  }

  /** One at a time: what ends in one of them would end appends of the other, with which it shares a table. */
  private async client(): Promise<EventStoreClient> {
    await this.ending
    if (this.closed) throw new NoAnswer('the log has been closed')
    this.current ??= new EventStoreClient(this.place)
    return this.current
  }

  /** Where another is the leader, the client knows which, and asks that one next. */
  private leaveUnless(cause: unknown, client: EventStoreClient): void {
    if (isAnswer(cause) || cause instanceof NotLeaderError) return
    if (this.current !== client) return
    this.current = null
    this.ending = client.end()
  }
}
