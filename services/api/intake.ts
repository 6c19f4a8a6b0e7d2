import type { taskEither as TE } from 'fp-ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { Orderer } from './desk.ts'

/** A fact without its instant: the intake gives it the time by its own clock, and never one before the cell's. */
export type Order = Untimed<CellInput> & {
  /** The same id again is the same order again. */
  readonly id: string
}
type Untimed<I> = I extends unknown ? Omit<I, 'at'> : never

export interface IntakeAnswer {
  readonly id: string
  readonly outcome: 'recorded' | 'duplicate' | 'unneeded' | 'refused' | 'undecodable'
  /** Whatever was refused or could not be decoded has one. */
  readonly reason?: string
}

/**
 * The way in, for everything that changes a cell: what it is given is decided about in the order in which it comes,
 * made durable, and answered then. Ends with the first fault of the log; what was not answered may be sent again.
 */
export interface Intake {
  /** One answer for each order, in their order. */
  readonly take: (
    orders: ReadonlyArray<Order>,
    by: Orderer,
  ) => TE.TaskEither<LogUnavailable, ReadonlyArray<IntakeAnswer>>
  /**
   * NDJSON of CloudEvents. Reads no further than it has decided: the source waits while the log does.
   * @param answered told of each line that is not blank, in order, once it is durable
   */
  readonly stream: (
    bytes: AsyncIterable<Uint8Array>,
    answered: (answers: ReadonlyArray<IntakeAnswer>) => void,
  ) => TE.TaskEither<LogUnavailable, void>
  /**
   * Takes a dead letter's body as a line once more. Where it is taken now (recorded, duplicate or unneeded), the dead
   * letter is recorded as replayed before the answer; else it stays as it is.
   */
  readonly replay: (letter: string, body: string, by: Orderer) => TE.TaskEither<LogUnavailable, IntakeAnswer>
  /** Records that a dead letter is not wanted. */
  readonly drop: (letter: string, by: Orderer) => TE.TaskEither<LogUnavailable, void>
}
