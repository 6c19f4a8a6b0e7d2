import { either as E } from 'fp-ts'
import type { Checkpoint, EventLog, LogUnavailable, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'
import { Tail } from './tail.ts'

/** Tells subscribers in this process that the log has grown. */
export interface Growth {
  /** @param appended by this process, and durable; absent: it has grown by what has to be read */
  readonly announce: (appended?: ReadonlyArray<StoredEvent>) => void
  readonly tail: Tail
  /** Calls back at every announcement until the function that it returns is called. */
  readonly listen: (listener: () => void) => () => void
}

export const growth = (): Growth => {
  const listeners = new Set<() => void>()
  const tail = new Tail()
  return {
    tail,
    announce: (appended = []) => {
      tail.add(appended)
      for (const listener of listeners) listener()
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const batchEventsMax = 1_000
/** How long what another process has appended may go unnoticed. */
const pollMs = 100

export const subscription = (
  readAll: EventLog['readAll'],
  grown: Growth,
  checkpoint: Checkpoint,
  handle: (batch: ReadonlyArray<StoredEvent>) => Promise<void>,
): Subscription => {
  let stopped = false
  let announcements = 0
  let wake: () => void = () => undefined
  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const next = async (from: number): Promise<ReadonlyArray<StoredEvent>> => {
    const kept = grown.tail.read(from, batchEventsMax)
    if (kept !== null) return kept
    const batch = await readAll(from, batchEventsMax)()
    if (E.isLeft(batch)) throw new Error(`${batch.left.reason}; ${batch.left.mend}`, { cause: batch.left })
    return batch.right
  }
  const run = async (): Promise<void> => {
    let position = await checkpoint.load()
    while (!isStopped()) {
      const before = announcements
      const batch = await next(position + 1)
      if (isStopped()) return
      const last = batch.at(-1)
      if (last === undefined) {
        // What was announced while it read may have come too late for it.
        if (announcements === before) await rest()
        continue
      }
      await handle(batch)
      position = last.position
      await checkpoint.save(position)
    }
  }
  const unlisten = grown.listen(() => {
    announcements++
    wake()
  })
  const isStopped = (): boolean => stopped
  const ended = run().finally(unlisten)
  // Whoever awaits `ended` or `stop` still sees the fault; nobody is made to.
  ended.catch(() => undefined)
  return {
    ended,
    stop: async () => {
      stopped = true
      wake()
      await ended.catch(() => undefined)
    },
  }
}

/** The fault of the log that ended a subscription; null: what handled the events threw. */
export const logFaultOf = (ended: unknown): LogUnavailable | null => {
  const cause = ended instanceof Error ? ended.cause : null
  const isFault = typeof cause === 'object' && cause !== null && 'type' in cause && cause.type === 'LogUnavailable'
  return isFault ? (cause as LogUnavailable) : null
}
