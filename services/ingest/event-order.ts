import type { EpochMs } from '../../domain/kernel/units.ts'
import type { BusBatch, TopicPartition } from '../../domain/ports/message-bus.ts'

/** Something of a partition that has a place in the order of all. */
export interface Ordered<A> {
  /** Event time; null: it has none, and stays with what is before it in its partition. */
  readonly at: EpochMs | null
  readonly source: string
  /** The source's own count, where it gives one; else its place in its partition. */
  readonly sequence: number
  readonly item: A
}

interface Offered<A> extends TopicPartition {
  readonly entries: ReadonlyArray<Ordered<A> & { readonly time: number }>
  readonly isLast: boolean
  readonly settle: (done: number) => void
  readonly fail: (cause: unknown) => void
}

type Standing = 'unheard' | 'ahead' | 'at-end'

/**
 * Brings together what several partitions deliver, in the order of (event time, source, sequence). The watermark is the least of
 * the last event times of the partitions that have more to give: what is before it is recorded, and what is behind it is left in
 * its partition, to be delivered again. So nothing is kept here that has not been recorded, but for one batch of each partition.
 * A partition that has been read to its end, or gives nothing for a while, holds up nobody: what comes of it later is late, and is
 * recorded when it comes.
 */
export class EventOrder<A> {
  private readonly record: (items: ReadonlyArray<A>) => Promise<void>
  private readonly gatherMaxMs: number
  private readonly standings = new Map<string, Standing>()
  private round: Offered<A>[] = []
  private timer: NodeJS.Timeout | null = null
  private recording: Promise<void> = Promise.resolve()

  /** @param gatherMaxMs how long a partition waits for others that may have something earlier */
  constructor(gatherMaxMs: number, record: (items: ReadonlyArray<A>) => Promise<void>) {
    this.gatherMaxMs = gatherMaxMs
    this.record = record
  }

  /** The partitions that there are to wait for. */
  assigned(partitions: ReadonlyArray<TopicPartition>): void {
    const names = new Set(partitions.map(nameOf))
    for (const name of this.standings.keys()) if (!names.has(name)) this.standings.delete(name)
    for (const name of names) if (!this.standings.has(name)) this.standings.set(name, 'unheard')
    this.closeWhenComplete()
  }

  /** Resolves with how many of them, from the first on, have been recorded; rejects with what kept them from it. */
  offer({ behind, partition, topic }: Omit<BusBatch, 'messages'>, entries: ReadonlyArray<Ordered<A>>): Promise<number> {
    let time = 0
    const timed = entries.map((entry) => ({ ...entry, time: (time = Math.max(time, entry.at ?? 0)) }))
    return new Promise((settle, fail) => {
      this.round.push({ topic, partition, entries: timed, isLast: behind === 0, settle, fail })
      this.timer ??= setTimeout(() => {
        this.close()
      }, this.gatherMaxMs)
      this.closeWhenComplete()
    })
  }

  private closeWhenComplete(): void {
    if (this.round.length === 0) return
    const here = new Set(this.round.map(nameOf))
    for (const [name, standing] of this.standings) if (standing !== 'at-end' && !here.has(name)) return
    this.close()
  }

  private close(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    const { round } = this
    this.round = []
    const done = countsOf(round)
    const finished = new Set(
      round.filter(({ entries, isLast }, at) => isLast && done[at] === entries.length).map(nameOf),
    )
    const here = new Set(round.map(nameOf))
    for (const name of this.standings.keys())
      this.standings.set(name, !here.has(name) || finished.has(name) ? 'at-end' : 'ahead')
    this.recording = this.recording.then(() => this.release(round, done))
  }

  private async release(round: ReadonlyArray<Offered<A>>, done: ReadonlyArray<number>): Promise<void> {
    const released = round.flatMap(({ entries, partition, topic }, at) =>
      entries.slice(0, done[at]).map((entry, offset) => ({ entry, topic, partition, offset })),
    )
    released.sort(
      (a, b) =>
        a.entry.time - b.entry.time ||
        compare(a.entry.source, b.entry.source) ||
        a.entry.sequence - b.entry.sequence ||
        compare(a.topic, b.topic) ||
        a.partition - b.partition ||
        a.offset - b.offset,
    )
    try {
      await this.record(released.map(({ entry }) => entry.item))
      round.forEach(({ settle }, at) => {
        settle(done[at]!)
      })
    } catch (cause) {
      // All of it comes again, and is to be waited for as before.
      for (const offered of round) {
        if (this.standings.has(nameOf(offered))) this.standings.set(nameOf(offered), 'ahead')
        offered.fail(cause)
      }
    }
  }
}

/** How many of each are before the watermark. */
const countsOf = (round: ReadonlyArray<Offered<unknown>>): ReadonlyArray<number> => {
  const watermark = Math.min(...round.filter(({ isLast }) => !isLast).map(({ entries }) => entries.at(-1)!.time))
  // More of the same instant may follow; where all is of one instant there is no waiting for that.
  const before = round.map(({ entries }) => countWhile(entries, ({ time }) => time < watermark))
  if (before.some((count) => count > 0)) return before
  return round.map(({ entries }) => countWhile(entries, ({ time }) => time <= watermark))
}

const nameOf = ({ partition, topic }: TopicPartition): string => `${topic}/${partition}`
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const countWhile = <E>(entries: ReadonlyArray<E>, holds: (entry: E) => boolean): number => {
  const at = entries.findIndex((entry) => !holds(entry))
  return at < 0 ? entries.length : at
}
