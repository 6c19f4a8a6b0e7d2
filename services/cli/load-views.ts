import { either as E } from 'fp-ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import type { ClickHouseViews } from '../../infra/clickhouse/views.ts'
import type { Session } from './session.ts'
import { fromLog } from './opened-log.ts'
import { viewsPlace } from './views-place.ts'

/**
 * Brings the views of a folder up to the end of its log. That they cannot be had is told and is no failure: they are
 * loaded when they are first asked.
 */
export const loadViews = async (session: Session, log: EventLog): Promise<void> => {
  const loaded = await loadedViews(session, log, false)
  if (E.isRight(loaded)) await loaded.right?.close()
  else session.note(`The views were not loaded: ${loaded.left.reason}; ${loaded.left.mend}.`)
}

/**
 * The views of a folder, open and at the end of its log; null: there are to be none.
 * @param anew what is there is dropped unread, whatever made it and however damaged it is
 */
export const loadedViews = async (
  session: Session,
  log: EventLog,
  anew: boolean,
): Promise<E.Either<LogUnavailable | ViewsUnavailable, ClickHouseViews | null>> => {
  const place = viewsPlace(session.configuration)
  if (place === null) return E.right(null)
  const heads = fromLog(await log.heads()())
  const events = heads.reduce((sum, { size }) => sum + size, 0)
  const [{ openViews }, { catchUp }] = await Promise.all([
    import('../../infra/clickhouse/views.ts'),
    import('../project/catch-up.ts'),
  ])
  const opened = await openViews(place, { anew })()
  if (E.isLeft(opened)) return opened
  const progress = session.progress('views', events)
  const caughtUp = await catchUp(log, opened.right, (position) => {
    progress.at(position + 1)
  })().finally(progress.stop)
  if (E.isRight(caughtUp)) return opened
  await opened.right.close()
  return caughtUp
}
