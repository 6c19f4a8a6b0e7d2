import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { ViewsPlace } from '../../infra/clickhouse/views.ts'
import type { EventStorePlace } from '../../infra/eventstore/place.ts'
import { openLog } from '../../infra/host/open-log.ts'
import { openDesk, type DeskParts, type LocalDesk } from '../api/local-desk.ts'
import { foldCell } from '../decide/fold.ts'
import { caughtUpViews, noViews } from '../project/attached-views.ts'
import { rebuild } from '../project/rebuild.ts'
import { calendarFrom, openWayIn, snapshotsIn } from './way-in.ts'

export interface FolderOptions {
  readonly folder: string
  /** That keeps the log instead; null: none. */
  readonly logServer: EventStorePlace | null
  readonly cell: string
  readonly version: string
  /** The caller has claimed the folder, and orders may be given. */
  readonly writes: boolean
  /** Null: none are wanted. They are brought up to the end of the log first. */
  readonly views: ViewsPlace | null
}

export interface OpenedFolder {
  readonly desk: LocalDesk
  readonly close: () => Promise<void>
}

/** A desk on a folder whose system does not run: nothing is decided but what follows from an order itself. */
export const openFolder = async (options: FolderOptions): Promise<E.Either<LogUnavailable, OpenedFolder>> => {
  const { cell, folder, version, writes } = options
  const closers: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  const opened = await openLog(options.logServer ?? folder, { readOnly: !writes })()
  if (E.isLeft(opened)) return opened
  const { log } = opened.right
  closers.push(log.close)
  let intake: DeskParts['intake'] = E.left({
    type: 'LogUnavailable',
    kind: 'read-only',
    reason: 'the folder was opened to be read',
    mend: 'open it to write',
  })
  if (writes) {
    const counted = await foldCell(log, cell, { snapshots: snapshotsIn(folder) })
    const now = E.isLeft(counted) ? 0 : counted.right.cell.now
    const wayIn = await openWayIn(log, folder, cell, now > 0 && now < calendarFrom ? 'events' : 'none')
    if (E.isLeft(wayIn)) {
      await close()
      return wayIn
    }
    closers.push(() => wayIn.right.owner.close())
    intake = E.right(wayIn.right.intake)
  }
  const views = options.views === null ? E.left(noViews) : await caughtUpViews(log, options.views)()
  if (E.isRight(views)) closers.push(views.right.close)
  const desk = await openDesk({
    version,
    cell,
    log,
    fold: (until) => foldCell(log, cell, { until, snapshots: snapshotsIn(folder) }),
    intake,
    views: () => views,
    rebuild: () => async () => (E.isLeft(views) ? views : rebuild(log, views.right)()),
    running: () => null,
    now: () => null,
    viewsStatus: async () => {
      if (E.isLeft(views)) return null
      const projected = await views.right.projected()()
      const { engine, kind } = views.right
      return { kind, engine, projected: E.isLeft(projected) ? -1 : projected.right, lagEvents: 0, lagMs: 0 as never }
    },
    degraded: () => (E.isLeft(views) && options.views !== null ? [{ what: 'views', ...views.left }] : []),
  })
  if (E.isLeft(desk)) {
    await close()
    return desk
  }
  closers.push(() => desk.right.close())
  return E.right({ desk: desk.right, close })
}
