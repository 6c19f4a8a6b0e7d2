import { either as E, type taskEither as TE } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { EventLog, LogUnavailable, StoredEvent } from '../../domain/ports/event-log.ts'
import type { TableRows, Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import { Projection } from '../../projections/rows/projection.ts'

export type ProjectFault = LogUnavailable | ViewsUnavailable

export const pageEventsMax = 2_000
/** Rows that are handed over at once; a page of events more than that wait at most. */
export const batchRowsMax = 20_000

/** A projection, and the last position that it was told; -1 for none. */
export interface ProjectedLog {
  readonly projection: Projection
  told: number
}

export interface Batch {
  readonly upTo: number
  readonly tables: ReadonlyArray<TableRows>
}

/** Each event once, and none before the one before it: what was told already is passed over. */
export const tell = (projected: ProjectedLog, events: ReadonlyArray<StoredEvent>): E.Either<LogUnavailable, void> => {
  for (const event of events) {
    if (event.position <= projected.told) continue
    if (event.position > projected.told + 1) return E.left(passedOver(projected.told + 1, event.position))
    try {
      projected.projection.follow(event)
    } catch (cause) {
      return E.left(unfoldable(event, cause))
    }
    projected.told = event.position
  }
  return E.right(undefined)
}

export const takeBatch = (projected: ProjectedLog): Batch => ({
  upTo: projected.told,
  tables: projected.projection.take(),
})

/**
 * The last position that the views hold; -1 for none. Views that are no projection of this log, or of more than it holds,
 * are dropped first.
 */
export const heldBy =
  (log: EventLog, views: Views): TE.TaskEither<ProjectFault, number> =>
  async () => {
    const projected = await views.projected()()
    if (E.isLeft(projected) || projected.right < 0) return projected
    const ours = await isOf(log, views, projected.right)()
    if (E.isLeft(ours)) return ours
    if (ours.right) return projected
    const reset = await views.reset()()
    return E.isLeft(reset) ? reset : E.right(-1)
  }

/**
 * A projection that goes on where the views end: it is told again what they hold, whose rows it drops.
 * @param seen told after each page how far it is
 */
export const resume =
  (
    log: EventLog,
    views: Views,
    seen: (position: number) => void = () => undefined,
  ): TE.TaskEither<ProjectFault, ProjectedLog> =>
  async () => {
    const held = await heldBy(log, views)()
    return E.isLeft(held) ? held : recall(log, held.right, seen)()
  }

/** Folds what the views hold already. */
export const recall =
  (log: EventLog, upTo: number, seen: (position: number) => void): TE.TaskEither<LogUnavailable, ProjectedLog> =>
  async () => {
    const recalled: ProjectedLog = { projection: new Projection(), told: -1 }
    while (recalled.told < upTo) {
      const page = await log.readAll(recalled.told + 1, Math.min(pageEventsMax, upTo - recalled.told))()
      if (E.isLeft(page)) return page
      if (page.right.length === 0) break
      const told = recalled.projection.recall(() => tell(recalled, page.right))
      if (E.isLeft(told)) return told
      seen(recalled.told)
    }
    return E.right(recalled)
  }

type IdentityRow = readonly [cell: string, events: Json, hash: string, version: Json]
const identityLimits = { timeMaxMs: 60_000, rowsMax: 1_000_000 }

/** Whether what the views hold comes from this log: the last event of each cell is where it was, with the same hash. */
const isOf =
  (log: EventLog, views: Views, upTo: number): TE.TaskEither<ProjectFault, boolean> =>
  async () => {
    const last = await log.readAll(upTo, 1)()
    if (E.isLeft(last)) return last
    if (last.right.length === 0) return E.right(false)
    const cells = await views.query('SELECT cell, events, hash, version FROM cell_rows FINAL', identityLimits)()
    // Views without that table are damaged.
    if (E.isLeft(cells)) return cells.left.type === 'QueryRefused' ? E.right(false) : E.left(cells.left)
    for (const [cell, events, hash, version] of cells.right.rows as ReadonlyArray<IdentityRow>) {
      // What a write that was cut short brought in is replaced when it is written again.
      if (Number(version) > upTo) continue
      const event = await log.readStream(cell, Number(events) - 1, 1)()
      if (E.isLeft(event)) return event
      if (event.right[0]?.hash !== hash || event.right[0].position !== Number(version)) return E.right(false)
    }
    return E.right(true)
  }

const passedOver = (next: number, position: number): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'input-output',
  reason: `the log gave the event at ${position} where that at ${next} was due`,
  mend: 'it is read again by itself; if that does not help, run `leasehold audit verify`',
})

const unfoldable = ({ position, stream, revision }: StoredEvent, cause: unknown): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'damaged',
  reason: `event ${revision} of ${stream} does not follow from those before it: ${String(cause)}`,
  mend: 'run `leasehold audit verify`, and restore the log from a copy that passes',
  position,
})
