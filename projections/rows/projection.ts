import { deadLetterPrefix, type StoredEvent } from '../../domain/ports/event-log.ts'
import type { TableRows } from '../../domain/ports/views.ts'
import { CellProjection } from './cell-projection.ts'
import { RowSink } from './row-sink.ts'

/**
 * Turns the log, told in order from its first event on, into rows. They depend on what was told alone, not on when they
 * are taken: of rows with one key, that of the highest version says the same wherever a batch ends.
 */
export class Projection {
  private readonly sink = new RowSink()
  private readonly cells = new Map<string, CellProjection>()

  /** Rows that wait to be taken. */
  get size(): number {
    return this.sink.size
  }

  /**
   * Tells it an event.
   * @throws broken invariant on an event that does not follow from those before it
   */
  follow(event: StoredEvent): void {
    if (event.stream.startsWith(deadLetterPrefix)) return
    let cell = this.cells.get(event.stream)
    if (cell === undefined) {
      cell = new CellProjection(event.stream, this.sink)
      this.cells.set(event.stream, cell)
    }
    cell.follow(event)
  }

  /** Tells it events whose rows are in the views already. */
  recall(events: ReadonlyArray<StoredEvent>): void {
    this.sink.keeps = false
    for (const event of events) this.follow(event)
    this.settle()
    this.sink.keeps = true
  }

  /** The rows since the last take. */
  take(): ReadonlyArray<TableRows> {
    this.settle()
    return this.sink.take()
  }

  private settle(): void {
    for (const cell of this.cells.values()) cell.settle()
  }
}
