import { either as E, type taskEither as TE } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import type { TableContent } from '../../infra/clickhouse/table-content.ts'
import { Projection } from '../../projections/rows/projection.ts'
import { catchUp, projectUpTo, type CatchUpSeen } from './catch-up.ts'
import { type ProjectedLog, type ProjectFault } from './projected-log.ts'

/** Views that can say what they hold. */
export interface CountedViews extends Views {
  readonly contents: () => TE.TaskEither<ViewsUnavailable, ReadonlyArray<TableContent>>
}

/** Hashes are empty where there was no such table. */
export interface RebuiltTable {
  readonly table: string
  readonly rowsBefore: number
  readonly hashBefore: string
  readonly rowsAfter: number
  readonly hashAfter: string
}

/** Brings the views up to the end of the log, drops them and projects all of it again: what they hold is to be the same. */
export const rebuild =
  (
    log: EventLog,
    views: CountedViews,
    seen: CatchUpSeen = () => undefined,
  ): TE.TaskEither<ProjectFault, ReadonlyArray<RebuiltTable>> =>
  async () => {
    const held = await catchUp(log, views)()
    if (E.isLeft(held)) return held
    const rebuilt = await rebuildAt(log, views, held.right, seen)()
    return E.isLeft(rebuilt) ? rebuilt : E.right(rebuilt.right.tables)
  }

/** The same for views that hold everything up to this position: up to there they are built again. */
export const rebuildAt =
  (
    log: EventLog,
    views: CountedViews,
    upTo: number,
    seen: CatchUpSeen,
  ): TE.TaskEither<ProjectFault, { readonly projected: ProjectedLog; readonly tables: ReadonlyArray<RebuiltTable> }> =>
  async () => {
    const before = await views.contents()()
    if (E.isLeft(before)) return before
    const reset = await views.reset()()
    if (E.isLeft(reset)) return reset
    const projected: ProjectedLog = { projection: new Projection(), told: -1 }
    const done = await projectUpTo(log, views, projected, upTo, seen)()
    if (E.isLeft(done)) return done
    const after = await views.contents()()
    return E.isLeft(after) ? after : E.right({ projected, tables: compared(before.right, after.right) })
  }

const nothing = { rows: 0, hash: '' }

const compared = (
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
