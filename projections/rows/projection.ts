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

  /** What it is told meanwhile has its rows in the views already: they are not made again. */
  recall<A>(tell: () => A): A {
    this.sink.keeps = false
    const told = tell()
    this.settle()
    this.sink.keeps = true
    return told
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
