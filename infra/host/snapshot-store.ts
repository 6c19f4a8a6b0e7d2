import { hash as digest } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'

/** State as text after the event at `revision`, whose hash it names: a speed-up, never the record. */
export interface Snapshot {
  readonly stream: string
  readonly revision: number
  /** Of the event at that revision. */
  readonly hash: string
  readonly body: string
}

export type LoadedSnapshot =
  | { readonly snapshot: Snapshot }
  /** Fold from the start instead. */
  | { readonly snapshot: null; readonly reason: string }

export interface SnapshotStore {
  /** Replaces the stream's snapshot at once or not at all. `Left` says why not: nothing is lost but time. */
  readonly save: (snapshot: Snapshot) => TE.TaskEither<string, void>
  /** The stream's snapshot, if the log holds the event that it claims and its body is as it was saved. */
  readonly load: (stream: string, log: EventLog) => Promise<LoadedSnapshot>
}

/** The first line of a snapshot's file; its body follows. */
interface Header {
  readonly stream: string
  readonly revision: number
  readonly hash: string
  readonly bodySha256: string
}

export const snapshotStore = (folder: string): SnapshotStore => {
  const pathOf = (stream: string): string => join(folder, `${digest('sha256', stream).slice(0, 32)}.snapshot`)
  return {
    save:
      ({ stream, revision, hash, body }) =>
      async () => {
        const path = pathOf(stream)
        const next = `${path}.${process.pid}`
        const header: Header = { stream, revision, hash, bodySha256: digest('sha256', body) }
        try {
          await mkdir(folder, { recursive: true, mode: 0o700 })
          const file = await open(next, 'w', 0o600)
          try {
            await file.writeFile(`${JSON.stringify(header)}\n${body}`)
            await file.datasync()
          } finally {
            await file.close()
          }
          await rename(next, path)
          return E.right(undefined)
        } catch (cause) {
          await rm(next, { force: true }).catch(() => undefined)
          return E.left(cause instanceof Error ? cause.message : String(cause))
        }
      },
    load: async (stream, log) => {
      const refuse = (reason: string): LoadedSnapshot => ({ snapshot: null, reason })
      const text = await readFile(pathOf(stream), 'utf8').catch(() => null)
      if (text === null) return refuse('there is none')
      const end = text.indexOf('\n')
      const header = headerOf(text.slice(0, end))
      if (end < 0 || header?.stream !== stream) return refuse('its header is damaged')
      const body = text.slice(end + 1)
      if (digest('sha256', body) !== header.bodySha256) return refuse('its body is not the one that was saved')
      const { revision, hash } = header
      const events = await log.readStream(stream, revision, 1)()
      if (E.isLeft(events)) return refuse(events.left.reason)
      if (events.right[0]?.hash !== hash) return refuse(`the log has another event, or none, at revision ${revision}`)
      return { snapshot: { stream, revision, hash, body } }
    },
  }
}

const headerOf = (text: string): Header | null => {
  try {
    const value = JSON.parse(text) as Partial<Header> | null
    const isHeader =
      typeof value?.stream === 'string' &&
      Number.isSafeInteger(value.revision) &&
      typeof value.hash === 'string' &&
      typeof value.bodySha256 === 'string'
    return isHeader ? (value as Header) : null
  } catch {
    return null
  }
}
