import type { StoredEvent } from '../../domain/ports/event-log.ts'

/** Events that are kept; whoever is further behind reads the log. More of them would outlive two collections of garbage. */
const tailEventsMax = 2_048

/**
 * The newest events, as they were appended by this process: those who follow it closely need not read and parse what
 * has only just been written.
 */
export class Tail {
  private batches: (readonly StoredEvent[])[] = []
  private count = 0

  /** Durable events, whose positions follow those of the last ones unless another process has written in between. */
  add(events: ReadonlyArray<StoredEvent>): void {
    if (events.length === 0) return
    if (this.count > 0 && this.last + 1 !== events[0]!.position) this.clear()
    this.batches.push(events)
    this.count += events.length
    while (this.count > tailEventsMax && this.batches.length > 1) this.count -= this.batches.shift()!.length
  }

  /** At most so many events from this position on; null where the first of them is not here. */
  read(from: number, limit: number): ReadonlyArray<StoredEvent> | null {
    if (this.count === 0 || from > this.last || from < this.batches[0]![0]!.position) return null
    const read: StoredEvent[] = []
    for (const batch of this.batches) {
      const skipped = Math.max(0, from - batch[0]!.position)
      for (let i = skipped; i < batch.length && read.length < limit; i++) read.push(batch[i]!)
      if (read.length === limit) break
    }
    return read
  }

  private get last(): number {
    return this.batches.at(-1)!.at(-1)!.position
  }

  private clear(): void {
    this.batches = []
    this.count = 0
  }
}
