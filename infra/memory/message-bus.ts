import { either as E, type taskEither as TE } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type {
  BusFault,
  BusMessage,
  BusSubscription,
  GroupReader,
  MessageBus,
  ReceivedMessage,
} from '../../domain/ports/message-bus.ts'
import { MemoryGroup } from './bus-group.ts'

/** Largest message, as a Kafka broker takes it when nothing else is said. */
export const messageBytesMax = 1_048_576

export type MemoryTopic = ReadonlyArray<ReceivedMessage[]>

const fault = (kind: BusFault['kind'], reason: string, mend: string): BusFault => ({
  type: 'BusFault',
  kind,
  reason,
  mend,
})
const closed = fault('closed', 'the bus has been closed', 'open it again')
const unknown = (topic: string): BusFault =>
  fault('unknown-topic', `there is no topic ${topic}`, 'make the topic first')

/** A bus within this process: partitions, groups that share them, and redelivery, all of it as long as the process lives. */
export const memoryMessageBus = (now: () => EpochMs): MessageBus => {
  const topics = new Map<string, MemoryTopic>()
  const groups = new Map<string, MemoryGroup>()
  const subscriptions = new Set<BusSubscription>()
  let isClosed = false

  const publish =
    (topic: string, messages: ReadonlyArray<BusMessage>): TE.TaskEither<BusFault, void> =>
    () =>
      Promise.resolve(publishNow(topic, messages))
  const publishNow = (topic: string, messages: ReadonlyArray<BusMessage>): E.Either<BusFault, void> => {
    if (isClosed) return E.left(closed)
    const partitions = topics.get(topic)
    if (partitions === undefined) return E.left(unknown(topic))
    const large = messages.find(({ value }) => (value?.length ?? 0) > messageBytesMax)
    if (large !== undefined)
      return E.left(
        fault(
          'too-large',
          `a message for ${topic} has ${large.value?.length ?? 0} bytes`,
          `send at most ${messageBytesMax}`,
        ),
      )
    for (const message of messages) {
      const partition = partitions[partitionOf(message.key, partitions)]!
      partition.push({ ...message, offset: partition.length, timestamp: now() })
    }
    for (const group of groups.values()) group.look()
    return E.right(undefined)
  }

  const subscribe = (reader: GroupReader): BusSubscription => {
    const missing = reader.topics.find((topic) => !topics.has(topic))
    if (isClosed || missing !== undefined) {
      const cause: Error = (isClosed ? closed : unknown(missing!)) as unknown as Error
      const ended = Promise.reject(cause)
      ended.catch(() => undefined)
      return { ended, stop: () => Promise.resolve() }
    }
    const group = groups.get(reader.group) ?? new MemoryGroup((topic) => topics.get(topic) ?? [])
    groups.set(reader.group, group)
    const subscription = group.join(reader)
    subscriptions.add(subscription)
    return subscription
  }

  return {
    publish,
    subscribe,
    ensure: (plans) => () => {
      if (isClosed) return Promise.resolve(E.left(closed))
      for (const { partitions, topic } of plans)
        if (!topics.has(topic))
          topics.set(
            topic,
            Array.from({ length: partitions }, () => []),
          )
      return Promise.resolve(E.right(undefined))
    },
    close: async () => {
      isClosed = true
      await Promise.all([...subscriptions].map(({ stop }) => stop()))
    },
  }
}

/** Of a key always the same one; of none the shortest. */
const partitionOf = (key: string | null, partitions: MemoryTopic): number => {
  if (key === null)
    return partitions.reduce((least, { length }, at) => (length < partitions[least]!.length ? at : least), 0)
  let sum = 0x811c9dc5
  for (let at = 0; at < key.length; at++) sum = Math.imul(sum ^ key.charCodeAt(at), 0x01000193) >>> 0
  return sum % partitions.length
}
