import { setTimeout as pause } from 'node:timers/promises'
import { either as E } from 'fp-ts'
import type { Checkpoint, EventLog, StoredEvent } from '../../domain/ports/event-log.ts'
import type { BusFault, BusMessage, MessageBus } from '../../domain/ports/message-bus.ts'
import { decisionMessage } from '../../projections/decisions/decision-message.ts'

export const decisionsTopic = 'leasehold.decisions.v1'

export interface OutboxParts {
  readonly bus: MessageBus
  readonly log: Pick<EventLog, 'subscribe'>
  /** Where it got to in the log. */
  readonly checkpoint: Checkpoint
  readonly topic?: string
  /** Told why decisions are not published for now, and with null when they are again. */
  readonly failing?: (fault: BusFault | Error | null) => void
}

export interface Outbox {
  /** Resolves when what is in hand has been published and its place saved. */
  readonly stop: () => Promise<void>
}

const backOffMinMs = 100
const backOffMaxMs = 10_000

/**
 * Publishes what cells decide, in the order of each cell: first publishes, then moves its place in the log on. So after a crash it may
 * publish again, by the same ids, and never leaves anything out. While the bus takes nothing it waits; the log is its queue.
 */
export const decisionOutbox = ({ bus, checkpoint, failing, log, topic = decisionsTopic }: OutboxParts): Outbox => {
  const stopping = new AbortController()
  let waitMs = backOffMinMs
  let isFailing = false
  const publish = async (events: ReadonlyArray<StoredEvent>): Promise<void> => {
    const messages = events.flatMap(messagesOf)
    if (messages.length > 0) {
      const sent = await bus.publish(topic, messages)()
      if (E.isLeft(sent)) throw sent.left as unknown as Error
    }
    waitMs = backOffMinMs
    if (isFailing) failing?.(null)
    isFailing = false
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const subscription = log.subscribe(checkpoint, publish)
      const stop = (): void => void subscription.stop()
      stopping.signal.addEventListener('abort', stop, { once: true })
      try {
        await subscription.ended
      } catch (cause) {
        failing?.(cause as BusFault | Error)
        isFailing = true
        await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        waitMs = Math.min(waitMs * 2, backOffMaxMs)
      } finally {
        stopping.signal.removeEventListener('abort', stop)
      }
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Keyed by the cell: its decisions keep their order. */
const messagesOf = (event: StoredEvent): ReadonlyArray<BusMessage> => {
  const message = decisionMessage(event)
  if (message === null) return []
  const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' }
  return [{ key: event.stream, headers, value: Buffer.from(JSON.stringify(message)) }]
}
