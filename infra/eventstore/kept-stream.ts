import { START, StreamNotFoundError } from '@eventstore/db-client'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { Damaged } from './damaged.ts'
import type { EventStoreClient } from './client.ts'
import { drained } from './delivery.ts'
import type { Link } from './link.ts'
import { ReadSoFar, type Span } from './read-so-far.ts'
import type { Recorded } from './recorded.ts'

/** Events that one call reads. */
const pageEventsMax = 1_000
/** A subscription may be alive and tell nothing: after so many deadlines the stream itself is looked at. */
const silentDeadlinesMax = 2

/** The stream as it is read: to its end once, and then as the server tells what comes. */
export class KeptStream {
  readonly link: Link
  readonly soFar = new ReadSoFar()
  private readonly grown: (events: ReadonlyArray<StoredEvent>) => void
  private damage: Damaged | null = null
  private following: Promise<void> = Promise.resolve()
  private looking: NodeJS.Timeout | undefined

  /** @param grown told of what is part of the log from now on */
  constructor(link: Link, grown: (events: ReadonlyArray<StoredEvent>) => void) {
    this.link = link
    this.grown = grown
  }

  /** What has been found where the next event should be; null: nothing. */
  get damaged(): Damaged | null {
    return this.damage
  }

  /** @throws Damaged */
  take(recorded: Recorded): void {
    try {
      const added = this.soFar.take(recorded)
      if (added.length > 0) this.grown(added)
    } catch (cause) {
      if (cause instanceof Damaged) this.damage = cause
      throw cause
    }
  }

  /** Reads on to the end. */
  async catchUp(): Promise<void> {
    for (;;) {
      const page = await this.page(this.soFar.lastRevision + 1, pageEventsMax)
      for (const recorded of page) this.take(recorded)
      if (page.length < pageEventsMax) return
    }
  }

  /** Keeps up with the stream until the link is closed, however often the server or the way to it fails. */
  follow(): void {
    this.following = this.followOn()
    const everyMs = silentDeadlinesMax * this.link.place.deadlineMs
    this.looking = setInterval(() => void this.catchUp().catch(() => undefined), everyMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.looking)
    await this.link.close()
    await this.following
  }

  /** Lines of the events at positions from `from` up to `from + count`, which have been read before. */
  async lines(from: number, count: number): Promise<ReadonlyArray<string>> {
    const lines: string[] = []
    for (const span of this.soFar.spans(from, count))
      for (let read = 0; read < span.count; read += pageEventsMax) await this.readSpan(lines, advanced(span, read))
    return lines
  }

  private async readSpan(lines: string[], { count, position, revision }: Span): Promise<void> {
    const wanted = Math.min(count, pageEventsMax)
    const page = await this.page(revision, wanted)
    for (let i = 0; i < wanted; i++) {
      if (page[i]?.revision !== revision + i) throw new Damaged(position + i, 'it is gone from its stream')
      lines.push(page[i]!.line)
    }
  }

  private async page(fromRevision: number, count: number): Promise<ReadonlyArray<Recorded>> {
    const { stream } = this.link.place
    const read = async (client: EventStoreClient): Promise<ReadonlyArray<Recorded>> => {
      const page: Recorded[] = []
      const reading = drained(client, ({ call }) =>
        client.readStream(stream, { ...call, fromRevision: BigInt(fromRevision), maxCount: count }),
      )
      for await (const recorded of reading) page.push(recorded)
      return page
    }
    try {
      return await this.link.read(read)
    } catch (cause) {
      if (!(cause instanceof StreamNotFoundError)) throw cause
      if (this.soFar.lastRevision >= 0) throw new Damaged(this.soFar.index.size(), 'its stream is gone')
      return []
    }
  }

  private async followOn(): Promise<void> {
    const { link, soFar } = this
    const backOff = link.backOff()
    const open = (client: EventStoreClient) => {
      const { lastRevision } = soFar
      const fromRevision = lastRevision < 0 ? START : BigInt(lastRevision)
      return client.subscribeToStream(link.place.stream, { ...client.call, fromRevision })
    }
    while (!link.closed && this.damage === null) {
      await link
        .follow(open, (recorded) => {
          backOff.reset()
          this.take(recorded)
        })
        .catch(() => undefined) // Whoever reads or appends is told; here it is only tried again.
      await backOff.rest()
    }
  }
}

const advanced = ({ count, position, revision }: Span, by: number): Span => ({
  position: position + by,
  revision: revision + by,
  count: count - by,
})
