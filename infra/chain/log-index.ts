import { either as E } from 'fp-ts'
import type { StreamHead } from '../../domain/ports/event-log.ts'
import type { AppendOutcome, PendingAppend } from './append-queue.ts'
import { byStream } from './chain-head.ts'
import { messageText, genesis, leafHash, leafText, metaText, type Leaf } from './stored-event.ts'

/** An event that has its place but is not durable yet. */
export interface StagedEvent extends Leaf {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly id: string
}

export interface Stage {
  readonly outcomes: ReadonlyArray<AppendOutcome>
  readonly events: ReadonlyArray<StagedEvent>
}

/** Where the durable events of a log are, for the adapters that have no database to ask. */
export interface LogIndex {
  readonly size: () => number
  readonly head: (stream: string) => { readonly revision: number; readonly hash: string }
  readonly heads: () => ReadonlyArray<StreamHead>
  readonly positions: (stream: string) => ReadonlyArray<number>
  readonly holds: (stream: string, id: string) => boolean
  /** Decides appends in order, each as if those before it were stored. Changes nothing. */
  readonly stage: (batch: ReadonlyArray<PendingAppend>) => Stage
  readonly commit: (events: ReadonlyArray<Omit<StagedEvent, 'text'>>) => void
}

interface Entry {
  hash: string
  readonly positions: number[]
  readonly ids: Set<string>
}

const empty = { hash: genesis, positions: [] as ReadonlyArray<number> }

export const logIndex = (): LogIndex => {
  const streams = new Map<string, Entry>()
  let size = 0
  const entryOf = (stream: string): Entry => {
    const known = streams.get(stream)
    if (known !== undefined) return known
    const entry = { hash: genesis, positions: [], ids: new Set<string>() }
    streams.set(stream, entry)
    return entry
  }
  const head: LogIndex['head'] = (stream) => {
    const { hash, positions } = streams.get(stream) ?? empty
    return { revision: positions.length - 1, hash }
  }
  const holds: LogIndex['holds'] = (stream, id) => streams.get(stream)?.ids.has(id) === true
  return {
    size: () => size,
    head,
    holds,
    heads: () =>
      [...streams].map(([stream, { hash, positions }]) => ({ stream, size: positions.length, hash })).sort(byStream),
    positions: (stream) => streams.get(stream)?.positions ?? empty.positions,
    stage: (batch) => {
      const staged = new Map<string, { revision: number; hash: string; readonly ids: Set<string> }>()
      const events: StagedEvent[] = []
      const decideOne = ({ stream, expected, events: added }: PendingAppend): AppendOutcome => {
        const at = staged.get(stream) ?? { ...head(stream), ids: new Set<string>() }
        if (at.revision !== expected)
          return E.left({ type: 'WrongExpectedRevision', stream, expected, actual: at.revision })
        const ids = new Set<string>()
        for (const { id } of added) {
          if (ids.has(id) || at.ids.has(id) || holds(stream, id)) return E.left({ type: 'DuplicateId', stream, id })
          ids.add(id)
        }
        for (const event of added) {
          const position = size + events.length
          const revision = at.revision + 1
          const text = leafText(
            position,
            stream,
            revision,
            event.version,
            metaText(event),
            messageText(event.message),
            at.hash,
          )
          const hash = leafHash(text)
          events.push({ position, stream, revision, id: event.id, text, hash })
          at.revision = revision
          at.hash = hash
          at.ids.add(event.id)
        }
        staged.set(stream, at)
        return E.right({ revision: at.revision, position: size + events.length - 1 })
      }
      return { outcomes: batch.map(decideOne), events }
    },
    commit: (events) => {
      for (const { stream, position, id, hash } of events) {
        const entry = entryOf(stream)
        entry.hash = hash
        entry.positions.push(position)
        entry.ids.add(id)
      }
      size += events.length
    },
  }
}
