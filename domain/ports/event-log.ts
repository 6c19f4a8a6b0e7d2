import type { taskEither as TE } from 'fp-ts'
import type { Message } from '../kernel/decider.ts'
import type { Json } from '../kernel/canonical-json.ts'
import type { EpochMs } from '../kernel/units.ts'

/** Who recorded an event, when, and what it follows from. */
export interface Envelope {
  /** Unique in its stream. An input keeps the id its source gave; a decision is named after the input it follows from. */
  readonly id: string
  readonly source: string
  readonly actor: string
  readonly recordTime: EpochMs
  /** Id of the event this one follows from. */
  readonly causation: string | null
  readonly correlation: string | null
  /** Hash of the policy in force; null before there is one. */
  readonly policy: string | null
  /** Why it was ordered, in the words of whoever did; absent: nobody said. */
  readonly reason?: string
}

/** An event as its writer hands it over. `message.data` is an object with its keys in canonical order. */
export interface NewEvent extends Envelope {
  readonly message: Message<string, { readonly [key: string]: Json }>
  readonly version: number
}

/** The same, as it is stored. Hashes are SHA-256 in lower-case hex. */
export interface StoredEvent extends NewEvent {
  /** 0, 1, 2 ... over the whole log, without gaps. */
  readonly position: number
  readonly stream: string
  /** 0, 1, 2 ... in its stream, without gaps. */
  readonly revision: number
  /** Hash of the event before it in its stream; 64 zeros before the first. */
  readonly previousHash: string
  readonly hash: string
}

/** Revision of the last event that the writer has seen in the stream; -1 when it has seen none. */
export type ExpectedRevision = number

export type LogUnavailable = {
  readonly type: 'LogUnavailable'
  /**
   * What is in the way: the disk is full, another process holds the log, too much waits to be written, there is no log,
   * a newer release wrote it, it is damaged ...
   */
  readonly kind:
    'full' | 'locked' | 'busy' | 'absent' | 'newer-schema' | 'damaged' | 'read-only' | 'closed' | 'input-output'
  readonly reason: string
  readonly mend: string
  /** Of the first event that is damaged, where it is known. */
  readonly position?: number
}

export type AppendFault =
  | LogUnavailable
  | {
      readonly type: 'WrongExpectedRevision'
      readonly stream: string
      readonly expected: ExpectedRevision
      readonly actual: ExpectedRevision
    }
  | { readonly type: 'DuplicateId'; readonly stream: string; readonly id: string }

/** The stream's last revision and the log's last position after the append, durable when it is returned. */
export interface Appended {
  readonly revision: number
  readonly position: number
}

/** Head of one stream: how many events it holds and the hash of the last. */
export interface StreamHead {
  readonly stream: string
  readonly size: number
  readonly hash: string
}

export interface Subscription {
  /** Stops delivery; resolves when the batch in hand has been handled. */
  readonly stop: () => Promise<void>
  /** Resolves when stopped, rejects with the fault that ended it. */
  readonly ended: Promise<void>
}

/** Streams so named hold messages that could not be decoded. They are no part of any history, and no cell is named so. */
export const deadLetterPrefix = 'dlq-'

/** Where a subscriber got to: the last position it has handled, -1 for none. */
export interface Checkpoint {
  readonly load: () => Promise<number>
  readonly save: (position: number) => Promise<void>
}

/**
 * The immutable log. Appends are all or nothing, in order, and durable before they are acknowledged (group commit:
 * what waits is flushed together). Reading never changes anything.
 */
export interface EventLog {
  readonly append: (
    stream: string,
    expected: ExpectedRevision,
    events: ReadonlyArray<NewEvent>,
  ) => TE.TaskEither<AppendFault, Appended>
  /** At most `limit` events of a stream from `fromRevision` on, in order; empty past the end. */
  readonly readStream: (
    stream: string,
    fromRevision: number,
    limit: number,
  ) => TE.TaskEither<LogUnavailable, ReadonlyArray<StoredEvent>>
  /** At most `limit` events of the whole log from `fromPosition` on, in order; empty past the end. */
  readonly readAll: (fromPosition: number, limit: number) => TE.TaskEither<LogUnavailable, ReadonlyArray<StoredEvent>>
  /** What a fold needs of a stream and no more: the messages, in order, without their envelopes. */
  readonly readMessages: (
    stream: string,
    fromRevision: number,
    limit: number,
  ) => TE.TaskEither<LogUnavailable, ReadonlyArray<NewEvent['message']>>
  /** The envelopes that `readMessages` leaves out, in the same order. */
  readonly readEnvelopes: (
    stream: string,
    fromRevision: number,
    limit: number,
  ) => TE.TaskEither<LogUnavailable, ReadonlyArray<Envelope>>
  /** Of these ids, the ones that the stream already holds. */
  readonly known: (stream: string, ids: ReadonlyArray<string>) => TE.TaskEither<LogUnavailable, ReadonlySet<string>>
  /** Every stream's head, sorted by stream name in byte order. */
  readonly heads: () => TE.TaskEither<LogUnavailable, ReadonlyArray<StreamHead>>
  /**
   * Delivers every event after the checkpoint, at least once and in order, first what is there and then what comes;
   * the checkpoint is saved after a batch has been handled.
   */
  readonly subscribe: (
    checkpoint: Checkpoint,
    handle: (batch: ReadonlyArray<StoredEvent>) => Promise<void>,
  ) => Subscription
  readonly close: () => Promise<void>
}
