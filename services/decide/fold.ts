import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { Cell, evolve } from '../../domain/planner/cell.ts'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'

export const foldPageMax = 2_000

/** A cell as its stream tells it, and how many events that took. */
export interface Folded {
  readonly cell: Cell
  readonly size: number
}

/**
 * Folds a stream into a cell.
 * @param until only events up to this instant; null: all
 * @param seen  told after each page how many events have been folded
 */
export const foldCell = async (
  log: EventLog,
  stream: string,
  until: EpochMs | null = null,
  seen: (events: number) => void = () => undefined,
): Promise<E.Either<LogUnavailable, Folded>> => {
  const cell = new Cell(stream)
  let size = 0
  for (;;) {
    const page = await log.readMessages(stream, size, foldPageMax)()
    if (E.isLeft(page)) return page
    for (const message of page.right as unknown as ReadonlyArray<CellEvent>) {
      if (until !== null && message.at > until) return E.right({ cell, size })
      try {
        evolve(cell, message)
      } catch (cause) {
        return E.left(unfoldable(stream, size, cause))
      }
      size++
    }
    seen(size)
    if (page.right.length < foldPageMax) return E.right({ cell, size })
  }
}

/** The log holds what no cell could have recorded: it was written by something else, or is damaged. */
const unfoldable = (stream: string, revision: number, cause: unknown): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'damaged',
  reason: `event ${revision} of ${stream} does not follow from those before it: ${String(cause)}`,
  mend: 'run `leasehold audit verify`, and restore the log from a copy that passes',
})
