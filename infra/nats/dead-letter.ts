import type { either as E } from 'fp-ts'
import type { JsMsg } from 'nats'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { NatsLink } from './link.ts'

const reasonMax = 1_000

/**
 * Keeps a message that nothing could be made of under `dlq.<origin>`, as it came, with why and where it was. It may be let go of
 * only when this is right.
 */
export const keepDeadLetter = async (
  link: NatsLink,
  origin: string,
  message: JsMsg,
  reason: string,
): Promise<E.Either<BusUnavailable, unknown>> => {
  const { deliveryCount, stream, streamSequence, timestampNanos } = message.info
  return link.publish('dlq', link.subject('dlq', origin), `${stream}/${streamSequence}`, message.data, {
    'Leasehold-Reason': reason.replace(/[^\x20-\x7e]+/g, '?').slice(0, reasonMax),
    'Leasehold-Subject': message.subject,
    'Leasehold-Stream': stream,
    'Leasehold-Sequence': String(streamSequence),
    'Leasehold-Deliveries': String(deliveryCount),
    'Leasehold-First-Time': new Date(Math.floor(timestampNanos / 1_000_000)).toISOString(),
  })
}
