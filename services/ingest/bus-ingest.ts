import { either as E } from 'fp-ts'
import type {
  BusMessage,
  BusSubscription,
  GroupReader,
  MessageBus,
  ReceivedMessage,
  TopicPlan,
} from '../../domain/ports/message-bus.ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { reasonOf } from './dead-letters.ts'
import { EventOrder } from './event-order.ts'
import type { FactIntake } from './fact-intake.ts'
import { messageLine } from './fact-lines.ts'
import { decodedLine, type Decoded } from './ingest.ts'

/** Where facts come from on the bus. */
export const factTopics: ReadonlyArray<string> = ['leasehold.run-events.v1', 'leasehold.node-events.v1']

/** Holds what nothing could be made of, and what a cell has refused: as it came, with the reason in its headers. */
export const deadLetterTopic = (topic: string): string => `${topic}.dlq`

/** The topics that ingest reads and writes. */
export const ingestTopicPlans = (partitions: number, topics = factTopics): ReadonlyArray<TopicPlan> => [
  ...topics.map((topic) => ({ topic, partitions })),
  ...topics.map((topic) => ({ topic: deadLetterTopic(topic), partitions: 1 })),
]

export interface BusIngest {
  readonly bus: MessageBus
  /** Records facts, each once by its id for ever. */
  readonly intake: Pick<FactIntake, 'decided'>
  /** Those who read for one cell share it; the bus keeps by it how far they have come. */
  readonly group: string
  readonly topics?: ReadonlyArray<string>
  /** How long a partition waits for others that may hold something earlier. */
  readonly gatherMaxMs?: number
  /** Told why facts are not recorded for now, and with null when they are again. */
  readonly failing?: (fault: LogUnavailable | null) => void
  readonly interrupted?: NonNullable<GroupReader['interrupted']>
}

const gatherMaxMsDefault = 500
/** A header with the source's own count of what it sends, which orders what it sends of one instant to several topics. */
const sequenceHeader = 'sequence'

interface Taken {
  readonly topic: string
  readonly partition: number
  readonly message: ReceivedMessage
  readonly decoded: Decoded
}

/**
 * Facts from the bus to the log of one cell, in the order of (event time, source, sequence). A message is committed when what it
 * says is in the log, or it lies in the dead letters of its topic; so nothing is lost, and what is delivered again is known by its
 * id. While the log does not take facts no more are read.
 */
export const busIngest = ({
  bus,
  failing,
  gatherMaxMs = gatherMaxMsDefault,
  group,
  intake,
  interrupted,
  topics = factTopics,
}: BusIngest): BusSubscription => {
  let isFailing = false
  const tell = (fault: LogUnavailable | null): void => {
    if (fault !== null || isFailing) failing?.(fault)
    isFailing = fault !== null
  }
  const record = async (taken: ReadonlyArray<Taken>): Promise<void> => {
    const answers = await intake.decided(taken.map(({ decoded }) => decoded))()
    if (E.isLeft(answers)) {
      tell(answers.left)
      throw new Error(answers.left.reason, { cause: answers.left })
    }
    tell(null)
    const letters = taken.flatMap((one, at) => {
      if ('letter' in one.decoded) return [letterOf(one, 'undecodable', reasonOf(one.decoded.letter))]
      const answer = answers.right[at]!
      return answer.outcome === 'refused' ? [letterOf(one, 'refused', answer.reason ?? '')] : []
    })
    for (const topic of topics.map(deadLetterTopic))
      await send(
        bus,
        topic,
        letters.flatMap((each) => (each.topic === topic ? [each.letter] : [])),
      )
  }
  const order = new EventOrder<Taken>(gatherMaxMs, record)
  return bus.subscribe({
    group,
    topics,
    assigned: (partitions) => {
      order.assigned(partitions)
    },
    ...(interrupted !== undefined && { interrupted }),
    handle: ({ messages, ...batch }) =>
      order.offer(
        batch,
        messages.map((message) => {
          const decoded = decodedLine(messageLine(message.value))
          const fact = 'fact' in decoded ? decoded.fact : null
          return {
            at: fact?.at ?? null,
            source: fact?.source ?? '',
            sequence: sequenceOf(message),
            item: { topic: batch.topic, partition: batch.partition, message, decoded },
          }
        }),
      ),
  })
}

const sequenceOf = ({ headers, offset }: ReceivedMessage): number => {
  const given = headers[sequenceHeader]
  return given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : offset
}

const headerCharsMax = 500

const letterOf = (
  { message, partition, topic }: Taken,
  became: 'undecodable' | 'refused',
  reason: string,
): { readonly topic: string; readonly letter: BusMessage } => ({
  topic: deadLetterTopic(topic),
  letter: {
    key: message.key,
    value: message.value,
    headers: {
      ...message.headers,
      'origin-topic': topic,
      'origin-partition': String(partition),
      'origin-offset': String(message.offset),
      class: became,
      reason: reason.slice(0, headerCharsMax),
    },
  },
})

/** A letter that has become too large by what is said about it goes without its body, which its origin names. */
const send = async (bus: MessageBus, topic: string, letters: ReadonlyArray<BusMessage>): Promise<void> => {
  if (letters.length === 0) return
  const sent = await bus.publish(topic, letters)()
  if (E.isRight(sent)) return
  const [first] = letters
  if (sent.left.kind !== 'too-large' || first!.value?.length === 0)
    throw new Error(sent.left.reason, { cause: sent.left })
  if (letters.length === 1) return send(bus, topic, [{ ...first!, value: Buffer.alloc(0) }])
  for (const letter of letters) await send(bus, topic, [letter])
}
