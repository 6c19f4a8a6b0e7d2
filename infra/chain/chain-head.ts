import { createHash } from 'node:crypto'
import { taskEither as TE } from 'fp-ts'
import type { EventLog, LogUnavailable, StreamHead } from '../../domain/ports/event-log.ts'

/** How many events a log holds and its chain head, which stands for every byte of them. Printed as `SIZE:HASH`. */
export interface LogHead {
  readonly size: number
  readonly hash: string
}

export const byStream = (a: { readonly stream: string }, b: { readonly stream: string }): number =>
  Buffer.compare(Buffer.from(a.stream), Buffer.from(b.stream))

/** SHA-256 in hex over a line `stream size hash` for each stream, sorted by stream in byte order. */
export const combined = (heads: Iterable<StreamHead>): string => {
  const sum = createHash('sha256')
  for (const { stream, size, hash } of [...heads].sort(byStream)) sum.update(`${stream} ${size} ${hash}\n`)
  return sum.digest('hex')
}

export const chainHead = (heads: Iterable<StreamHead>): LogHead => {
  const all = [...heads]
  return { size: all.reduce((sum, { size }) => sum + size, 0), hash: combined(all) }
}

export const headOf = (log: EventLog): TE.TaskEither<LogUnavailable, LogHead> => TE.map(chainHead)(log.heads())

/** How many events the stream holds; 0 where there is none of that name. */
export const streamSize = (log: EventLog, stream: string): TE.TaskEither<LogUnavailable, number> =>
  TE.map((heads: ReadonlyArray<StreamHead>) => heads.find((head) => head.stream === stream)?.size ?? 0)(log.heads())
