import { either as E, taskEither as TE } from 'fp-ts'
import type { LogUnavailable, StoredEvent } from '../../domain/ports/event-log.ts'
import { appendQueue, closedFault, type Flush } from './append-queue.ts'
import type { AuditedLog } from './audited-log.ts'
import type { LogIndex } from './log-index.ts'
import { leafOf, parseLine } from './stored-event.ts'
import { growth, subscription } from './subscription.ts'

type Lines = ReadonlyArray<string>
/** A promise only where it has to be: what lies in this process is read in the turn in which it is asked for. */
type Soon<A> = A | Promise<A>

/** Where the lines are kept. What it throws, or rejects with, is turned into a fault by `toFault`. */
export interface LineStore {
  /** Lines of the events at positions `from` up to `from + count`, which the index has. */
  readonly read: (from: number, count: number) => Soon<Lines>
  /** So many lines that nobody wants are read along rather than asked around; absent: none. */
  readonly gapMax?: number
  /** Takes up what another process has written; does nothing where there can be none. */
  readonly refresh: () => Soon<void>
  readonly flush: Flush
  readonly close: () => Promise<void>
  readonly toFault: (cause: unknown) => LogUnavailable
  /** Absent: a subscription ends with the fault of the log that it met. Else it reads with this. */
  readonly patient?: (readAll: AuditedLog['readAll']) => AuditedLog['readAll']
}

const thenDo = <A, B>(value: Soon<A>, work: (value: A) => B): Soon<B> =>
  value instanceof Promise ? value.then(work) : work(value)

/** The log over lines kept in order of position and an index held in memory. */
export const indexedLog = (index: LogIndex, store: LineStore, grown = growth()): AuditedLog => {
  const { gapMax = 0 } = store
  let closed = false
  const queue = appendQueue(async (batch) => {
    const outcomes = await store.flush(batch)
    grown.announce()
    return outcomes
  })
  const reading =
    <A>(read: () => Soon<A>): TE.TaskEither<LogUnavailable, A> =>
    () => {
      if (closed) return Promise.resolve(E.left(closedFault))
      const failed = (cause: unknown) => E.left(store.toFault(cause))
      try {
        const refreshed = store.refresh()
        const value = refreshed instanceof Promise ? refreshed.then(read) : read()
        return value instanceof Promise ? value.then(E.right, failed) : Promise.resolve(E.right(value))
      } catch (cause) {
        return Promise.resolve(failed(cause))
      }
    }
  const streamLines = (stream: string, fromRevision: number, limit: number): Soon<Lines> => {
    const positions = index.positions(stream).slice(fromRevision, fromRevision + limit)
    const runs: Soon<Lines>[] = []
    for (let i = 0; i < positions.length;) {
      let end = i + 1
      while (end < positions.length && positions[end]! <= positions[end - 1]! + 1 + gapMax) end += 1
      const wanted = positions.slice(i, end)
      const from = wanted[0]!
      const count = wanted.at(-1)! - from + 1
      const run = store.read(from, count)
      runs.push(count === wanted.length ? run : thenDo(run, (lines) => wanted.map((at) => lines[at - from]!)))
      i = end
    }
    if (runs.length === 1) return runs[0]!
    const isHere = (run: Soon<Lines>): run is Lines => !(run instanceof Promise)
    return runs.every(isHere) ? runs.flat() : Promise.all(runs.map(async (run) => run)).then((all) => all.flat())
  }
  const lines = (from: number, limit: number): Soon<Lines> =>
    from < index.size() ? store.read(from, Math.min(limit, index.size() - from)) : []
  const parsed = (read: Soon<Lines>): Soon<ReadonlyArray<StoredEvent>> => thenDo(read, (all) => all.map(parseLine))
  const readAll: AuditedLog['readAll'] = (from, limit) => reading(() => parsed(lines(from, limit)))
  const readStream: AuditedLog['readStream'] = (stream, from, limit) =>
    reading(() => parsed(streamLines(stream, from, limit)))
  return {
    append: queue.append,
    readAll,
    readStream,
    readMessages: (stream, from, limit) =>
      TE.map((events: ReadonlyArray<StoredEvent>) => events.map(({ message }) => message))(
        readStream(stream, from, limit),
      ),
    readEnvelopes: readStream,
    known: (stream, ids) => reading(() => new Set(ids.filter((id) => index.holds(stream, id)))),
    heads: () => reading(index.heads),
    leaves: (from, limit) =>
      reading(() =>
        thenDo(lines(from, limit), (read) => {
          const leaves = read.map(leafOf)
          const next = from + leaves.length
          return {
            leaves: leaves.map(({ text }) => text),
            hashes: leaves.map(({ hash }) => hash).join(''),
            next: next < index.size() ? next : null,
          }
        }),
      ),
    damage: () => Promise.resolve([]),
    subscribe: (checkpoint, handle) => subscription(store.patient?.(readAll) ?? readAll, grown, checkpoint, handle),
    close: async () => {
      await queue.close()
      if (closed) return
      closed = true
      grown.announce()
      await store.close()
    },
  }
}
