import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  write,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { Flush } from '../chain/append-queue.ts'
import type { AuditedLog } from '../chain/audited-log.ts'
import { indexedLog } from '../chain/indexed-log.ts'
import { logIndex, type LogIndex } from '../chain/log-index.ts'
import { nextEvent } from '../chain/next-event.ts'
import { lineOf } from '../chain/stored-event.ts'
import { takeWriterLock, type WriterLock } from './writer-lock.ts'

/*
 * One append-only file of the exported lines. A flush writes its events and then an EMPTY LINE, in one write, and is
 * acknowledged after fdatasync: what has no empty line after it was never acknowledged and is cut back when the log is
 * opened, so that an append is there whole or not at all. The mark costs one byte a flush and no second flush, leaves
 * each line as it is exported, and readers of NDJSON skip it.
 *
 * A torn flush is a beginning of what was being written, or zeros where the file had grown before its content came. Any
 * other tail is damage to what may have been acknowledged, and stops the start: a flipped bit never cuts anything.
 */

export interface FileOptions {
  readonly readOnly?: boolean
}

/** Memory grows with the number of events by the offsets and the ids, some 150 bytes each. */
export const fileEventLog =
  (file: string, { readOnly = false }: FileOptions = {}): TE.TaskEither<LogUnavailable, AuditedLog> =>
  () =>
    Promise.resolve(E.flatten(E.tryCatch(() => open(file, readOnly), faultOf(file))))

const open = (file: string, readOnly: boolean): E.Either<LogUnavailable, AuditedLog> => {
  let lock: WriterLock | null = null
  let fd: number | null = null
  try {
    if (!readOnly) {
      const taken = takeWriterLock(`${file}.lock`)
      if (E.isLeft(taken))
        return E.left({
          type: 'LogUnavailable',
          kind: 'locked',
          reason: `${file}: ${taken.left}`,
          mend: 'try again when it is done, or stop it',
        })
      lock = taken.right
    }
    const { O_RDONLY, O_RDWR, O_CREAT } = constants
    fd = openSync(file, readOnly ? O_RDONLY : O_RDWR | O_CREAT, 0o600)
    if (!readOnly) syncFolder(file)
    const kept = keptLines(fd, file)
    kept.scan()
    if (!readOnly) kept.cutTail()
    return E.right(openedLog(kept, readOnly, lock, file))
  } catch (cause) {
    if (fd !== null) closeSync(fd)
    lock?.release()
    throw cause
  }
}

/** A new file is there after a power cut once its folder has been flushed. */
const syncFolder = (file: string): void => {
  const folder = openSync(dirname(file), constants.O_RDONLY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

class Damaged extends Error {
  readonly position: number
  constructor(position: number, reason: string) {
    super(reason)
    this.position = position
  }
}

const chunkBytes = 1 << 20
const lineFeed = 0x0a

interface KeptLines {
  readonly fd: number
  readonly index: LogIndex
  /** End of the last flush that is whole. */
  readonly end: () => number
  readonly fileSize: () => number
  /** Takes up whole flushes after `end`. @throws Damaged */
  readonly scan: () => void
  readonly cutTail: () => void
  readonly read: (from: number, count: number) => ReadonlyArray<string>
  readonly add: (staged: ReturnType<LogIndex['stage']>['events'], text: string) => void
}

const keptLines = (fd: number, file: string): KeptLines => {
  const index = logIndex()
  /** Where each event's line starts. */
  let offsets = new Float64Array(1_024)
  let end = 0

  const fileSize = (): number => fstatSync(fd).size
  const bytesAt = (from: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const more = readSync(fd, bytes, read, length - read, from + read)
      if (more === 0) throw new Damaged(index.size(), `${file} has become shorter`)
      read += more
    }
    return bytes
  }
  const setOffset = (position: number, offset: number): void => {
    if (position === offsets.length) {
      const longer = new Float64Array(offsets.length * 2)
      longer.set(offsets)
      offsets = longer
    }
    offsets[position] = offset
  }
  type Read = { position: number; stream: string; revision: number; id: string; hash: string; offset: number }

  const scan = (): void => {
    const size = fileSize()
    let flush: Read[] = []
    /** Heads of streams as the flush in hand leaves them. */
    const heads = new Map<string, { revision: number; hash: string }>()
    let rest: Buffer = Buffer.alloc(0)
    let restAt = end
    const take = (line: string, offset: number): void => {
      const position = index.size() + flush.length
      const next = nextEvent(line, position, (stream) => heads.get(stream) ?? index.head(stream))
      if (E.isLeft(next)) throw new Damaged(position, next.left)
      const event = next.right
      heads.set(event.stream, { revision: event.revision, hash: event.hash })
      flush.push({ position, stream: event.stream, revision: event.revision, id: event.id, hash: event.hash, offset })
    }
    const finish = (next: number): void => {
      if (flush.length === 0) throw new Damaged(index.size(), 'an empty line stands where an event should')
      for (const { position, offset } of flush) setOffset(position, offset)
      index.commit(flush)
      flush = []
      heads.clear()
      end = next
    }
    for (let at = end; at < size;) {
      const chunk = bytesAt(at, Math.min(chunkBytes, size - at))
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      at += chunk.length
      let from = 0
      for (let to = bytes.indexOf(lineFeed); to >= 0; to = bytes.indexOf(lineFeed, from)) {
        if (to === from) finish(restAt + to + 1)
        else take(bytes.toString('utf8', from, to), restAt + from)
        from = to + 1
      }
      rest = bytes.subarray(from)
      restAt += from
    }
    if (!isTorn(rest, index.size() + flush.length))
      throw new Damaged(index.size() + flush.length, 'it is not an event as one is written')
  }

  return {
    fd,
    index,
    end: () => end,
    fileSize,
    scan,
    cutTail: () => {
      if (fileSize() > end) ftruncateSync(fd, end)
    },
    read: (from, count) => {
      const to = from + count === index.size() ? end : offsets[from + count]!
      const lines = bytesAt(offsets[from]!, to - offsets[from]!)
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
      if (lines.length !== count) throw new Damaged(from, 'it, or one soon after it, is not as it was written')
      return lines
    },
    add: (staged, text) => {
      let offset = end
      let at = 0
      for (const { position } of staged) {
        setOffset(position, offset)
        const next = text.indexOf('\n', at) + 1
        offset += Buffer.byteLength(text.slice(at, next))
        at = next
      }
      index.commit(staged)
      end = offset + 1
    },
  }
}

/** Whether this is how a flush that was cut off ends: a beginning of the line that comes next, or zeros. */
const isTorn = (rest: Buffer, position: number): boolean => {
  const zeros = rest.indexOf(0)
  const text = (zeros < 0 ? rest : rest.subarray(0, zeros)).toString('latin1')
  const opening = `{"position":${position},"stream":"`
  const isOpening = text.length < opening.length ? opening.startsWith(text) : text.startsWith(opening)
  return isOpening && (zeros < 0 || rest.subarray(zeros).every((byte) => byte === 0))
}

const writeAsync = promisify(write)
const fdatasyncAsync = promisify(fdatasync)

const openedLog = (kept: KeptLines, readOnly: boolean, lock: WriterLock | null, file: string): AuditedLog => {
  const toFault = faultOf(file)
  /** After a flush to the disk has failed, what the file holds is known only by reading it again. */
  let broken: LogUnavailable | null = readOnly
    ? {
        ...unavailable,
        kind: 'read-only',
        reason: `${file}: it was opened for reading only`,
        mend: 'open it for writing',
      }
    : null
  const refuse = (batch: Parameters<Flush>[0], fault: LogUnavailable): Awaited<ReturnType<Flush>> =>
    batch.map(() => E.left(fault))

  const flush: Flush = async (batch) => {
    if (broken !== null) return refuse(batch, broken)
    const { outcomes, events } = kept.index.stage(batch)
    if (events.length === 0) return outcomes
    try {
      if (kept.fileSize() !== kept.end())
        return refuse(batch, {
          ...unavailable,
          kind: 'locked',
          reason: `${file}: another process has written it`,
          mend: 'stop one of the two and open the log again',
        })
      const text = `${events.map(lineOf).join('\n')}\n\n`
      const bytes = Buffer.from(text)
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await writeAsync(kept.fd, bytes, done, bytes.length - done, kept.end() + done)
        done += bytesWritten
      }
      await fdatasyncAsync(kept.fd).catch((cause: unknown) => {
        broken = { ...toFault(cause), mend: 'see to the disk and open the log again; appending the same again is safe' }
        throw cause
      })
      kept.add(events, text)
      return outcomes
    } catch (cause) {
      const fault = toFault(cause)
      try {
        kept.cutTail()
      } catch (second) {
        broken ??= toFault(second)
      }
      return refuse(batch, fault)
    }
  }
  return indexedLog(kept.index, {
    read: kept.read,
    refresh: () => {
      if (readOnly && kept.fileSize() > kept.end()) kept.scan()
    },
    flush,
    close: () => {
      closeSync(kept.fd)
      lock?.release()
      return Promise.resolve()
    },
    toFault,
  })
}

const unavailable = { type: 'LogUnavailable' } as const

const faultOf =
  (file: string) =>
  (cause: unknown): LogUnavailable => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const fault = (kind: LogUnavailable['kind'], why: string, mend: string): LogUnavailable => ({
      ...unavailable,
      kind,
      reason: `${file}: ${why}`,
      mend,
    })
    if (cause instanceof Damaged)
      return {
        ...fault('damaged', `position ${cause.position}: ${cause.message}`, damagedMend),
        position: cause.position,
      }
    if (cause instanceof SyntaxError) return fault('damaged', reason, damagedMend)
    switch (code) {
      case 'ENOSPC':
      case 'EDQUOT':
      case 'EFBIG':
        return fault('full', 'the disk is full', 'make room; nothing was stored by halves')
      case 'ENOENT':
        return fault('absent', 'there is no log', 'name the folder of one, or write one first')
      case 'EROFS':
      case 'EACCES':
      case 'EPERM':
        return fault('read-only', 'it cannot be written or read', 'give this user the right to its folder')
      default:
        return fault('input-output', reason, 'see to the disk; appending the same again is safe')
    }
  }

const damagedMend =
  'keep the file; events before that position are intact: restore a backup, or copy the lines before it to a new log'
