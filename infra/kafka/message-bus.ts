import { either as E, type taskEither as TE } from 'fp-ts'
import type { Kafka } from 'kafkajs'
import type { BusFault, BusSubscription, MessageBus, TopicPlan } from '../../domain/ports/message-bus.ts'
import { kafkaClient, retry } from './client.ts'
import { faultOf } from './fault.ts'
import { describePlace, type KafkaPlace } from './place.ts'
import { SendQueue } from './send-queue.ts'
import { KafkaSubscription } from './subscription.ts'

export interface KafkaBusOptions {
  /** How long a publish is tried for while no broker answers. */
  readonly publishMaxMs?: number
  /** How long a member may keep the others from being dealt partitions by a batch that it has in hand; then it is out. */
  readonly rebalanceMaxMs?: number
}

const publishMaxMsDefault = 30_000
const rebalanceMaxMsDefault = 30_000

/** The bus on a Kafka cluster. Nothing is connected before it is used. */
export const kafkaMessageBus = (
  place: KafkaPlace,
  { publishMaxMs = publishMaxMsDefault, rebalanceMaxMs = rebalanceMaxMsDefault }: KafkaBusOptions = {},
): MessageBus => {
  const open = (): Kafka => kafkaClient(place)
  const queue = new SendQueue(describePlace(place), open, publishMaxMs)
  const subscriptions = new Set<BusSubscription>()
  let isClosed = false
  return {
    ensure: (topics) => async () => {
      try {
        await ensure(open(), topics)
        return E.right(undefined)
      } catch (cause) {
        return E.left(faultOf(describePlace(place), `make ${topics.map(({ topic }) => topic).join(', ')}`, cause))
      }
    },
    publish:
      (topic, messages): TE.TaskEither<BusFault, void> =>
      () =>
        queue.send(topic, messages),
    subscribe: (reader) => {
      if (isClosed) return endedAtOnce(describePlace(place))
      const subscription = new KafkaSubscription(place, open, reader, rebalanceMaxMs)
      subscriptions.add(subscription)
      const forget = (): void => {
        subscriptions.delete(subscription)
      }
      subscription.ended.then(forget, forget)
      return subscription
    },
    close: async () => {
      isClosed = true
      await Promise.all([...subscriptions].map((each) => each.stop()))
      await queue.close()
    },
  }
}

const endedAtOnce = (place: string): BusSubscription => {
  const fault: BusFault = {
    type: 'BusFault',
    kind: 'closed',
    reason: `${place}: the bus has been closed`,
    mend: 'open it again',
  }
  const cause: Error = fault as unknown as Error
  const ended = Promise.reject(cause)
  ended.catch(() => undefined)
  return { ended, stop: () => Promise.resolve() }
}

/** With as many copies as the broker is configured to keep. */
const ensure = async (client: Kafka, plans: ReadonlyArray<TopicPlan>): Promise<void> => {
  const admin = client.admin({ retry })
  try {
    await admin.connect()
    const there = new Set(await admin.listTopics())
    const missing = plans.filter(({ topic }) => !there.has(topic))
    if (missing.length === 0) return
    // Somebody else may make them at the same time: then it answers false.
    await admin.createTopics({
      topics: missing.map(({ partitions, topic }) => ({ topic, numPartitions: partitions })),
      waitForLeaders: true,
    })
  } finally {
    await admin.disconnect().catch(() => undefined)
  }
}
