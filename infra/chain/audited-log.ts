import type { taskEither as TE } from 'fp-ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'

/** Something that is wrong with a log; where, as far as it is known. */
export interface Finding {
  readonly position: number | null
  readonly stream: string | null
  readonly revision: number | null
  readonly reason: string
}

export interface LeafPage {
  readonly leaves: ReadonlyArray<string>
  /** Of each leaf, 64 characters, one after the other: an audit of many events makes no object for each. */
  readonly hashes: string
  /** Position of the first event after the page; null when there is none. */
  readonly next: number | null
}

export const hashAt = (hashes: string, i: number): string => hashes.slice(i * 64, i * 64 + 64)

/** A log whose readers' texts can be seen before they are parsed: what an audit and an export read. */
export interface AuditedLog extends EventLog {
  /**
   * What `readAll` parses, by its own query: the events at positions from `fromPosition` up to `fromPosition + limit`,
   * of which an audit, unlike a reader, bears that some are missing.
   */
  readonly leaves: (fromPosition: number, limit: number) => TE.TaskEither<LogUnavailable, LeafPage>
  /** Damage beneath the events: in pages, and in the indexes that the other queries go by. */
  readonly damage: () => Promise<ReadonlyArray<Finding>>
}

export const findingsMax = 100
