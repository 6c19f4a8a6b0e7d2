import type { StreamingRead, StreamSubscription, ResolvedEvent } from '@eventstore/db-client'
import type { EventStoreClient } from './client.ts'
import { NoAnswer } from './fault.ts'
import { decodeRecorded, type Recorded } from './recorded.ts'

export const givenUp = 'the connection was given up'

export type Delivery = StreamingRead<ResolvedEvent> | StreamSubscription

/**
 * The events that are delivered. However it is left, the call is ended: the client leaves one that nobody drains open for
 * ever, with all that has arrived, and one whose client has been given up without an end.
 */
export async function* drained(
  client: EventStoreClient,
  open: (client: EventStoreClient) => Delivery,
): AsyncGenerator<Recorded, void> {
  const delivery = open(client)
  const leave = (): void => {
    delivery.destroy(new NoAnswer(givenUp))
  }
  // It may fail before, or after, anybody waits for it.
  delivery.on('error', () => undefined)
  client.ended.addEventListener('abort', leave)
  try {
    for await (const { event } of delivery as AsyncIterable<ResolvedEvent>)
      if (event !== undefined) yield decodeRecorded(event)
  } finally {
    client.ended.removeEventListener('abort', leave)
    const ended = 'cancel' in delivery ? delivery.cancel() : delivery.unsubscribe()
    void ended.catch(() => undefined)
  }
}
