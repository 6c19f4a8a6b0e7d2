import { either as E, type taskEither as TE } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { RebuiltTable, Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import type { TableContent } from '../../infra/clickhouse/table-content.ts'
import { Projection } from '../../projections/rows/projection.ts'
import { projectUpTo, type CatchUpSeen } from './catch-up.ts'
import { resume, type ProjectedLog, type ProjectFault } from './projected-log.ts'

/** Views that can say what they hold. */
export interface CountedViews extends Views {
  readonly contents: () => TE.TaskEither<ViewsUnavailable, ReadonlyArray<TableContent>>
}

/**
 * Drops the views and projects the whole log again: what they hold is to be the same. Views that are behind are first brought
 * up to the end of the log; those that are no projection of it are compared as they are.
 */
export const rebuild =
  (
    log: EventLog,
    views: CountedViews,
    seen: CatchUpSeen = () => undefined,
  ): TE.TaskEither<ProjectFault, ReadonlyArray<RebuiltTable>> =>
  async () => {
    const found = await views.contents()()
    if (E.isLeft(found)) return found
    const projected = await views.projected()()
    if (E.isLeft(projected)) return projected
    const next = await log.readAll(projected.right + 1, 1)()
    if (E.isLeft(next)) return next
    let before = found.right
    if (next.right.length > 0) {
      const resumed = await resume(log, views)()
      if (E.isLeft(resumed)) return resumed
      if (resumed.right.told === projected.right) {
        const done = await projectUpTo(log, views, resumed.right, Infinity, () => undefined)()
        if (E.isLeft(done)) return done
        const brought = await views.contents()()
        if (E.isLeft(brought)) return brought
        before = brought.right
      }
    }
    const rebuilt = await builtAnew(log, views, Infinity, before, seen)()
    return E.isLeft(rebuilt) ? rebuilt : E.right(rebuilt.right.tables)
  }

interface Built {
  readonly projected: ProjectedLog
  readonly tables: ReadonlyArray<RebuiltTable>
}

/** The same for views that hold everything up to this position: up to there they are built again. */
export const rebuildAt =
  (log: EventLog, views: CountedViews, upTo: number): TE.TaskEither<ProjectFault, Built> =>
  async () => {
    const before = await views.contents()()
    return E.isLeft(before) ? before : builtAnew(log, views, upTo, before.right, () => undefined)()
  }

const builtAnew =
  (
    log: EventLog,
    views: CountedViews,
    upTo: number,
    before: ReadonlyArray<TableContent>,
    seen: CatchUpSeen,
  ): TE.TaskEither<ProjectFault, Built> =>
  async () => {
    const reset = await views.reset()()
    if (E.isLeft(reset)) return reset
    const projected: ProjectedLog = { projection: new Projection(), told: -1 }
    const done = await projectUpTo(log, views, projected, upTo, seen)()
    if (E.isLeft(done)) return done
    const after = await views.contents()()
    return E.isLeft(after) ? after : E.right({ projected, tables: compared(before, after.right) })
  }

const nothing = { rows: 0, hash: '' }

export const compared = (
  before: ReadonlyArray<TableContent>,
  after: ReadonlyArray<TableContent>,
): ReadonlyArray<RebuiltTable> => {
  const names = [...new Set([...before, ...after].map(({ table }) => table))].sort()
  return names.map((table) => {
    const old = before.find((content) => content.table === table) ?? nothing
    const fresh = after.find((content) => content.table === table) ?? nothing
    return { table, rowsBefore: old.rows, hashBefore: old.hash, rowsAfter: fresh.rows, hashAfter: fresh.hash }
  })
}
