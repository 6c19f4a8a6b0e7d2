import type { taskEither as TE } from 'fp-ts'
import type { EpochMs } from '../kernel/units.ts'

/** Why the bus did not take or give something, by its cause, and what to do about it. */
export interface BusFault {
  readonly type: 'BusFault'
  /**
   * No broker answers: what was published may or may not have been taken, and may be sent again. Who we are is not known;
   * or may not do this. There is no such topic. A message is larger than the broker takes. Too much waits to be sent. The bus has been closed
   * here. Anything else that the broker answers.
   */
  readonly kind:
    'unreachable' | 'unauthenticated' | 'denied' | 'unknown-topic' | 'too-large' | 'busy' | 'closed' | 'refused'
  readonly reason: string
  readonly mend: string
}

export interface BusMessage {
  /** Messages of one key keep their order; null: in no order. */
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
  /** Null: what the key named is no more. */
  readonly value: Uint8Array | null
}

/** A message as it is delivered. Its topic, partition and offset name it for ever. */
export interface ReceivedMessage extends BusMessage {
  readonly offset: number
  /** When it was published, by the clock of whoever did. */
  readonly timestamp: EpochMs
}

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** Messages of one partition that follow each other, at least one. */
export interface BusBatch extends TopicPartition {
  readonly messages: ReadonlyArray<ReceivedMessage>
  /** How many more the partition held behind these when they were fetched. */
  readonly behind: number
}

export interface TopicPlan {
  readonly topic: string
  readonly partitions: number
}

/** Members of a group share the partitions of its topics; each group gets everything, a new one from the beginning. */
export interface GroupReader {
  readonly group: string
  readonly topics: ReadonlyArray<string>
  /**
   * Resolves with how many messages, from the first on, are done with for ever. They are committed then; the others, and all
   * of them where it rejects, are delivered again. A partition waits for the batch in hand; partitions do not wait for each
   * other. What has been handled may come again after a crash or when the group's members change.
   */
  readonly handle: (batch: BusBatch) => Promise<number>
  /** Told of the partitions that are this member's, each time that they are dealt out. */
  readonly assigned?: (partitions: ReadonlyArray<TopicPartition>) => void
  /** Told why nothing is delivered for now, and with null when it is again. */
  readonly interrupted?: (fault: BusFault | null) => void
}

export interface BusSubscription {
  /** Takes nothing more; resolves when the batches in hand have been handled and committed. */
  readonly stop: () => Promise<void>
  /** Resolves when stopped; rejects with the fault that trying again does not mend. */
  readonly ended: Promise<void>
}

/** Topics of messages that are kept and can be read again. */
export interface MessageBus {
  /** Makes the topics that are not there; those that are stay as they are. */
  readonly ensure: (topics: ReadonlyArray<TopicPlan>) => TE.TaskEither<BusFault, void>
  /** Durable when it is acknowledged, and behind everything of the same key that was published before it. */
  readonly publish: (topic: string, messages: ReadonlyArray<BusMessage>) => TE.TaskEither<BusFault, void>
  readonly subscribe: (reader: GroupReader) => BusSubscription
  /** Stops what reads, and sends what waits to be sent. */
  readonly close: () => Promise<void>
}
