/** An event as a client proposes it. */
export interface Proposed {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** What a client expects to be last in a stream: a revision, or nothing at all. */
export type Expected = number | 'no_stream' | 'any'

export type Appended =
  | { readonly type: 'Stored'; readonly last: number }
  | { readonly type: 'WrongExpectedVersion'; readonly current: number }
  | { readonly type: 'TooLarge' }

/** What a server takes in one append unless it is told otherwise. */
export const appendBytesMax = 1_024 * 1_024

/** The streams of a server. They outlive it, as files do. */
export class KeptStreams {
  private readonly streams = new Map<string, Proposed[]>()
  private readonly listeners = new Set<() => void>()
  private readonly knowsRepeats: boolean

  /** @param knowsRepeats the same events at the same place again are a success; servers have been known to forget that */
  constructor({ knowsRepeats = true } = {}) {
    this.knowsRepeats = knowsRepeats
  }

  events(stream: string): ReadonlyArray<Proposed> | null {
    return this.streams.get(stream) ?? null
  }

  /** Lets a stream be as some disaster leaves it. */
  replace(stream: string, events: ReadonlyArray<Proposed>): void {
    this.streams.set(stream, [...events])
  }

  append(stream: string, expected: Expected, added: ReadonlyArray<Proposed>): Appended {
    if (added.reduce((sum, event) => sum + sizeOnDisk(event), 0) > appendBytesMax) return { type: 'TooLarge' }
    const events = this.streams.get(stream) ?? []
    const current = events.length - 1
    const seen = expected === 'no_stream' ? -1 : expected === 'any' ? current : expected
    if (seen !== current) {
      const isRepeat =
        this.knowsRepeats && added.length > 0 && added.every(({ id }, i) => events[seen + 1 + i]?.id === id)
      return isRepeat ? { type: 'Stored', last: seen + added.length } : { type: 'WrongExpectedVersion', current }
    }
    for (const event of added) events.push(event)
    this.streams.set(stream, events)
    for (const listener of [...this.listeners]) listener()
    return { type: 'Stored', last: events.length - 1 }
  }

  /** Calls back whenever something was appended, until what it returns is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

const sizeOnDisk = ({ data, metadata, type }: Proposed): number => data.length + metadata.length + 2 * type.length
