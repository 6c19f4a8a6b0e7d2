import { either as E, type taskEither as TE } from 'fp-ts'
import type { AppendFault, Appended, ExpectedRevision, LogUnavailable, NewEvent } from '../../domain/ports/event-log.ts'
import { assertStorable } from './stored-event.ts'

export interface PendingAppend {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: ReadonlyArray<NewEvent>
}

export type AppendOutcome = E.Either<AppendFault, Appended>

/** Makes all of it durable at once, and says per append what became of it. It throws only what a bug does. */
export type Flush = (
  batch: ReadonlyArray<PendingAppend>,
) => ReadonlyArray<AppendOutcome> | Promise<ReadonlyArray<AppendOutcome>>

export interface AppendQueue {
  readonly append: (
    stream: string,
    expected: ExpectedRevision,
    events: ReadonlyArray<NewEvent>,
  ) => TE.TaskEither<AppendFault, Appended>
  /** Refuses what comes from now on; resolves when what waits has been flushed. */
  readonly close: () => Promise<void>
}

/** Events in one transaction, unless a single append has more. */
const batchEventsMax = 4_096
/** Events that wait to be written; beyond it the caller is asked to come back. */
const waitingEventsMax = 65_536

export const closedFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'closed',
  reason: 'the log has been closed',
  mend: 'open it again',
}

const busyFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'busy',
  reason: `more than ${waitingEventsMax} events wait to be written`,
  mend: 'append again when earlier appends have been acknowledged',
}

const brokenFault = (cause: unknown): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'input-output',
  reason: `the flush broke off: ${String(cause)}`,
  mend: 'open the log again; appending the same again is safe',
})

/**
 * Group commit: appends that arrive while others are being flushed, or in the same turn of the event loop, share the
 * next flush. They are acknowledged in the order in which they came, after the flush.
 */
export const appendQueue = (flush: Flush): AppendQueue => {
  type Waiting = PendingAppend & { readonly settle: (outcome: AppendOutcome) => void }
  let waiting: Waiting[] = []
  let waitingEvents = 0
  let closed = false
  let draining: Promise<void> | null = null

  const takeBatch = (): ReadonlyArray<Waiting> => {
    let count = 0
    let events = 0
    while (count < waiting.length && (count === 0 || events + waiting[count]!.events.length <= batchEventsMax))
      events += waiting[count++]!.events.length
    const batch = count === waiting.length ? waiting : waiting.slice(0, count)
    waiting = count === waiting.length ? [] : waiting.slice(count)
    waitingEvents -= events
    return batch
  }
  /** Whatever happens, nobody waits for ever, and nothing is thrown across the port. */
  const outcomesOf = async (batch: ReadonlyArray<Waiting>): Promise<ReadonlyArray<AppendOutcome>> => {
    try {
      return await flush(batch)
    } catch (cause) {
      return batch.map(() => E.left(brokenFault(cause)))
    }
  }
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      await new Promise(setImmediate)
      const batch = takeBatch()
      const outcomes = await outcomesOf(batch)
      for (let i = 0; i < batch.length; i++) batch[i]!.settle(outcomes[i]!)
    }
    draining = null
  }
  return {
    append: (stream, expected, events) => () => {
      assertStorable(stream, events)
      if (closed) return Promise.resolve(E.left(closedFault))
      if (waiting.length > 0 && waitingEvents + events.length > waitingEventsMax)
        return Promise.resolve(E.left(busyFault))
      waitingEvents += events.length
      const outcome = new Promise<AppendOutcome>((settle) => waiting.push({ stream, expected, events, settle }))
      draining ??= drain()
      return outcome
    },
    close: async () => {
      closed = true
      await draining
    },
  }
}
