import { either as E, type taskEither as TE } from 'fp-ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import type { CellFact } from '../../domain/planner/cell-event.codec.ts'
import { decodeFactLine } from '../../domain/planner/cloud-event.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { AppendFault, EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { Answer } from './answer.ts'
import { reasonOf, type DeadLetters } from './dead-letters.ts'
import { factLines, gathered } from './fact-lines.ts'
import { ingest, knownIn, letterOf, takeBatch, takeFact, type Decoded, type FactWriter } from './ingest.ts'

export interface IntakeParts {
  readonly log: EventLog
  readonly stream: string
  readonly deadLetters: DeadLetters
  /** What facts may not be far ahead of. */
  readonly clock: Clock
  /** The instant that what is ordered now is recorded at. */
  readonly orderTime: Clock
  /** One for each request. */
  readonly request: () => FactWriter
}

interface By {
  readonly actor: string
  readonly reason: string | null
}
type Untimed<I> = I extends unknown ? Omit<I, 'at'> : never
type Order = Untimed<CellInput> & { readonly id: string }

/** The way in of one cell, for any number of requests at once. */
export class FactIntake {
  private readonly parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.parts = parts
  }

  /** One answer for each order, in their order, when all of them are durable. */
  take(orders: ReadonlyArray<Order>, by: By): TE.TaskEither<LogUnavailable, ReadonlyArray<Answer>> {
    return async () => {
      const { log, stream, request, clock, orderTime } = this.parts
      const known = await knownIn(
        log,
        stream,
        orders.map(({ id }) => id),
      )
      if (E.isLeft(known)) return known
      const writer = request()
      const answers: Answer[] = []
      for (const order of orders) {
        const fact = { ...order, at: orderTime.now() } as CellFact
        answers.push(
          takeFact(fact, { source: 'order', actor: by.actor, reason: by.reason }, writer, clock, known.right),
        )
        if (!writer.isFull) continue
        const flushed = await writer.flush()
        if (E.isLeft(flushed)) return unavailable(flushed.left)
      }
      const flushed = await writer.flush()
      return E.isLeft(flushed) ? unavailable(flushed.left) : E.right(answers)
    }
  }

  /**
   * NDJSON of CloudEvents. Reads at most one chunk further than it has decided.
   * @param answered told of each line that is not blank, in order, once it is durable
   */
  stream(
    bytes: AsyncIterable<Uint8Array>,
    answered: (answers: ReadonlyArray<Answer>) => void,
  ): TE.TaskEither<LogUnavailable, void> {
    return async () => {
      const { log, stream, deadLetters, clock, request } = this.parts
      const answer = (answers: ReadonlyArray<Answer>): Promise<void> => {
        answered(answers)
        return Promise.resolve()
      }
      const ended = await ingest(gathered(factLines(bytes)), {
        log,
        stream,
        writer: request(),
        deadLetters,
        clock,
        answer,
      })
      return E.isLeft(ended) ? unavailable(ended.left) : ended
    }
  }

  /** One answer for each, in their order, when all of them are durable. */
  decided(batch: ReadonlyArray<Decoded>): TE.TaskEither<LogUnavailable, ReadonlyArray<Answer>> {
    return async () => {
      const { log, stream, deadLetters, clock, request } = this.parts
      const all: Answer[] = []
      const answer = (answers: ReadonlyArray<Answer>): Promise<void> => {
        all.push(...answers)
        return Promise.resolve()
      }
      const taken = await takeBatch(batch, { log, stream, writer: request(), deadLetters, clock, answer })
      return E.isLeft(taken) ? unavailable(taken.left) : E.right(all)
    }
  }

  /** Takes a dead letter's body as a line once more; where it is taken now, the letter is recorded as replayed. */
  replay(letter: string, body: string, by: By): TE.TaskEither<LogUnavailable, Answer> {
    return async () => {
      const { log, stream, deadLetters, clock, request } = this.parts
      const decoded = decodeFactLine(body)
      if (E.isLeft(decoded))
        return E.right({ id: letter, outcome: 'undecodable', reason: reasonOf(letterOf(body, decoded.left)) })
      const { source, ...fact } = decoded.right
      const known = await knownIn(log, stream, [fact.id])
      if (E.isLeft(known)) return known
      const writer = request()
      const answer = takeFact(fact, { source, actor: by.actor, reason: by.reason }, writer, clock, known.right)
      const flushed = await writer.flush()
      if (E.isLeft(flushed)) return unavailable(flushed.left)
      if (answer.outcome === 'refused') return E.right(answer)
      deadLetters.close(letter, 'DeadLetterReplayed', clock.now(), by.actor)
      const closed = await deadLetters.flush()
      return E.isLeft(closed) ? unavailable(closed.left) : E.right(answer)
    }
  }

  /** Records that a dead letter is not wanted. */
  drop(letter: string, by: By): TE.TaskEither<LogUnavailable, void> {
    return async () => {
      const { deadLetters, clock } = this.parts
      deadLetters.close(letter, 'DeadLetterDropped', clock.now(), by.actor)
      const closed = await deadLetters.flush()
      return E.isLeft(closed) ? unavailable(closed.left) : closed
    }
  }
}

/** Only another writer of the same log makes a fault of any other kind. */
const unavailable = (fault: AppendFault): E.Either<LogUnavailable, never> =>
  E.left(
    fault.type === 'LogUnavailable'
      ? fault
      : {
          type: 'LogUnavailable',
          kind: 'busy',
          reason: 'something else was written to the log at the same time',
          mend: 'send it again: what is recorded already is answered as a duplicate',
        },
  )
