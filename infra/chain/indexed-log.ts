import { either as E, taskEither as TE } from 'fp-ts'
import type { LogUnavailable, StoredEvent } from '../../domain/ports/event-log.ts'
import { appendQueue, closedFault, type Flush } from './append-queue.ts'
import type { AuditedLog } from './audited-log.ts'
import type { LogIndex } from './log-index.ts'
import { leafOf, parseLine } from './stored-event.ts'
import { growth, subscription } from './subscription.ts'

/** Where the lines are kept. What it throws is turned into a fault by `toFault`. */
export interface LineStore {
  /** Lines of the events at positions `from` up to `from + count`, which the index has. */
  readonly read: (from: number, count: number) => ReadonlyArray<string>
  /** Takes up what another process has written; does nothing where there can be none. */
  readonly refresh: () => void
  readonly flush: Flush
  readonly close: () => Promise<void>
  readonly toFault: (cause: unknown) => LogUnavailable
}

/** The log over lines kept in order of position and an index held in memory. */
export const indexedLog = (index: LogIndex, store: LineStore): AuditedLog => {
  const grown = growth()
  let closed = false
  const queue = appendQueue(async (batch) => {
    const outcomes = await store.flush(batch)
    grown.announce()
    return outcomes
  })
  const reading =
    <A>(read: () => A): TE.TaskEither<LogUnavailable, A> =>
    () =>
      Promise.resolve(
        closed
          ? E.left(closedFault)
          : E.tryCatch(() => {
              store.refresh()
              return read()
            }, store.toFault),
      )
  const streamLines = (stream: string, fromRevision: number, limit: number): ReadonlyArray<string> => {
    const positions = index.positions(stream).slice(fromRevision, fromRevision + limit)
    const lines: string[] = []
    for (let i = 0; i < positions.length;) {
      let end = i + 1
      while (end < positions.length && positions[end] === positions[end - 1]! + 1) end += 1
      for (const line of store.read(positions[i]!, end - i)) lines.push(line)
      i = end
    }
    return lines
  }
  const lines = (from: number, limit: number): ReadonlyArray<string> =>
    from < index.size() ? store.read(from, Math.min(limit, index.size() - from)) : []
  const readAll: AuditedLog['readAll'] = (from, limit) => reading(() => lines(from, limit).map(parseLine))
  const readStream: AuditedLog['readStream'] = (stream, from, limit) =>
    reading(() => streamLines(stream, from, limit).map(parseLine))
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
      reading(() => {
        const leaves = lines(from, limit).map(leafOf)
        const next = from + leaves.length
        return {
          leaves: leaves.map(({ text }) => text),
          hashes: leaves.map(({ hash }) => hash).join(''),
          next: next < index.size() ? next : null,
        }
      }),
    damage: () => Promise.resolve([]),
    subscribe: (checkpoint, handle) => subscription(readAll, grown, checkpoint, handle),
    close: async () => {
      await queue.close()
      if (closed) return
      closed = true
      grown.announce()
      await store.close()
    },
  }
}
