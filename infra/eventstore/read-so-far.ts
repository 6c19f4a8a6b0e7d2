import { either as E } from 'fp-ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { logIndex, type LogIndex } from '../chain/log-index.ts'
import { nextEvent } from '../chain/next-event.ts'
import { Damaged } from './damaged.ts'
import type { Recorded } from './recorded.ts'

/** Events of the log that lie in the stream one after the other. */
interface Stretch {
  readonly position: number
  readonly revision: number
}

/** Lines to be read from the stream: `count` of them from `revision` on. */
export interface Span {
  readonly position: number
  readonly revision: number
  readonly count: number
}

/**
 * What is known of the stream, and of the log that is in it. An append that is larger than the server takes at once is there
 * when its last part is; where something else follows, its parts are void. So a revision is a position plus as many void events
 * as lie before it, mostly none.
 */
export class ReadSoFar {
  readonly index: LogIndex = logIndex()
  private last = -1
  /** Of an append whose end has not been seen. */
  private parts: StoredEvent[] = []
  private readonly stretches: Stretch[] = []
  private watched = { revision: -1, hash: null as string | null }

  /** Revision of the last event that was read; -1: of none. */
  get lastRevision(): number {
    return this.last
  }

  /** Notes what comes at that revision, for `watchedHash`. */
  watch(revision: number): void {
    this.watched = { revision, hash: null }
  }

  get watchedHash(): string | null {
    return this.watched.hash
  }

  /**
   * Takes up the next event, or one that it has seen; returns what is part of the log from now on.
   * @throws Damaged
   */
  take({ goesOn, line, revision }: Recorded): ReadonlyArray<StoredEvent> {
    const { index } = this
    if (revision <= this.last) return []
    const size = index.size()
    if (revision !== this.last + 1)
      throw new Damaged(size, `revisions ${this.last + 1} to ${revision - 1} of its stream are gone`)
    if (this.parts.length > 0 && !this.continues(line)) this.parts = []
    const next = nextEvent(line, size + this.parts.length, (stream) => this.headOf(stream))
    if (E.isLeft(next)) throw new Damaged(size + this.parts.length, next.left)
    this.last = revision
    if (revision === this.watched.revision) this.watched.hash = next.right.hash
    this.parts.push(next.right)
    if (goesOn) return []
    const whole = this.parts
    this.parts = []
    const begin = revision - whole.length + 1
    const before = this.stretches.at(-1)
    if (before === undefined || begin - size !== before.revision - before.position)
      this.stretches.push({ position: size, revision: begin })
    index.commit(whole)
    return whole
  }

  /** Where the events at positions from `from` up to `from + count` lie, in order. */
  spans(from: number, count: number): ReadonlyArray<Span> {
    const { stretches } = this
    const spans: Span[] = []
    let at = stretches.findLastIndex(({ position }) => position <= from)
    for (let position = from; position < from + count; at++) {
      const end = Math.min(from + count, stretches[at + 1]?.position ?? Infinity)
      const { position: first, revision } = stretches[at]!
      spans.push({ position, revision: revision + position - first, count: end - position })
      position = end
    }
    return spans
  }

  private continues(line: string): boolean {
    return line.startsWith(`{"position":${this.index.size() + this.parts.length},`)
  }

  private headOf(stream: string): { readonly revision: number; readonly hash: string } {
    return this.parts.findLast((event) => event.stream === stream) ?? this.index.head(stream)
  }
}
