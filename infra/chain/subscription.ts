import { either as E } from 'fp-ts'
import type { Checkpoint, EventLog, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'

/** Tells subscribers in this process that the log has grown. */
export interface Growth {
  readonly announce: () => void
  /** Resolves at the next announcement after the call. */
  readonly next: () => Promise<void>
}

export const growth = (): Growth => {
  let resolve: () => void = () => undefined
  let next: Promise<void> | null = null
  return {
    announce: () => {
      next = null
      resolve()
    },
    next: () => (next ??= new Promise((settle) => (resolve = settle))),
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
  let wake: () => void = () => undefined
  const rest = (announced: Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      void announced.then(wake)
    })
  const run = async (): Promise<void> => {
    let position = await checkpoint.load()
    while (!isStopped()) {
      const announced = grown.next()
      const batch = await readAll(position + 1, batchEventsMax)()
      if (E.isLeft(batch)) throw new Error(`${batch.left.reason}; ${batch.left.mend}`, { cause: batch.left })
      if (isStopped()) return
      const last = batch.right.at(-1)
      if (last === undefined) {
        await rest(announced)
        continue
      }
      await handle(batch.right)
      position = last.position
      await checkpoint.save(position)
    }
  }
  const isStopped = (): boolean => stopped
  const ended = run()
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
