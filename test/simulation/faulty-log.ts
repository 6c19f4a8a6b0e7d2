import { either as E, type taskEither as TE } from 'fp-ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { Chance, Lifeline } from './lifeline.ts'
import type { Weather } from './weather.ts'

const brokenOff: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'input-output',
  reason: 'the connection broke off',
  mend: 'try again',
}

/** The log as one process has it: an append may fail before or after it took effect, and a subscription may end. */
export const faultyLog = (log: EventLog, life: Lifeline, weather: Weather, below: Chance): EventLog => {
  const fails = (): boolean => weather.log && below(8) === 0
  const reading =
    <A>(read: TE.TaskEither<LogUnavailable, A>): TE.TaskEither<LogUnavailable, A> =>
    () =>
      life.outside(() => (fails() ? Promise.resolve(E.left(brokenOff)) : read()), 2)
  return {
    append: (stream, expected, events) => () =>
      life.outside(async () => {
        if (fails()) return E.left(brokenOff)
        const appended = await log.append(stream, expected, events)()
        return fails() ? E.left(brokenOff) : appended
      }),
    readStream: (...asked) => reading(log.readStream(...asked)),
    readAll: (...asked) => reading(log.readAll(...asked)),
    readMessages: (...asked) => reading(log.readMessages(...asked)),
    readEnvelopes: (...asked) => reading(log.readEnvelopes(...asked)),
    known: (...asked) => reading(log.known(...asked)),
    heads: () => reading(log.heads()),
    subscribe: (checkpoint, handle) => {
      const subscription = log.subscribe(checkpoint, async (batch) => {
        await life.outside(() => undefined, 2)
        if (fails()) throw new Error(brokenOff.reason, { cause: brokenOff })
        await handle(batch)
      })
      life.onEnd(() => subscription.stop())
      return subscription
    },
    close: () => Promise.resolve(),
  }
}
