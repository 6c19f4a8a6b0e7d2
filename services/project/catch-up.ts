import { either as E, type taskEither as TE } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import {
  batchRowsMax,
  heldBy,
  pageEventsMax,
  recall,
  takeBatch,
  tell,
  type ProjectedLog,
  type ProjectFault,
} from './projected-log.ts'

/** Told now and then the last position that has been looked at: at first those that the views hold already. */
export type CatchUpSeen = (position: number) => void

/** Brings the views up to the end of the log. @returns the last position that they hold; -1 for none */
export const catchUp =
  (log: EventLog, views: Views, seen: CatchUpSeen = () => undefined): TE.TaskEither<ProjectFault, number> =>
  async () => {
    const held = await heldBy(log, views)()
    if (E.isLeft(held)) return held
    // Where nothing is missing, what the views hold need not be told again.
    const next = await log.readAll(held.right + 1, 1)()
    if (E.isLeft(next)) return next
    if (next.right.length === 0) return held
    const recalled = await recall(log, held.right, seen)()
    if (E.isLeft(recalled)) return recalled
    const done = await projectUpTo(log, views, recalled.right, Infinity, seen)()
    return E.isLeft(done) ? done : E.right(recalled.right.told)
  }

/**
 * Projects from where it was told on, up to a position or the end of the log. One write is under way while the rows of the
 * next are made.
 */
export const projectUpTo =
  (
    log: EventLog,
    views: Views,
    projected: ProjectedLog,
    upTo: number,
    seen: CatchUpSeen,
  ): TE.TaskEither<ProjectFault, void> =>
  async () => {
    const from = projected.told
    let written = from
    let underWay: Promise<E.Either<ViewsUnavailable, void>> = Promise.resolve(E.right(undefined))
    for (;;) {
      const page = await log.readAll(projected.told + 1, Math.min(pageEventsMax, upTo - projected.told))()
      const told = E.isLeft(page) ? page : tell(projected, page.right)
      const isLast = E.isLeft(told) || projected.told >= upTo || (E.isRight(page) && page.right.length < pageEventsMax)
      if (projected.projection.size >= batchRowsMax || isLast) {
        const before = await underWay
        if (E.isLeft(before)) return before
        if (E.isLeft(told)) return told
        if (projected.told > written) {
          const { upTo: position, tables } = takeBatch(projected)
          underWay = views.write(position, tables)()
          written = position
        }
      }
      seen(projected.told)
      if (isLast) return underWay
    }
  }
