import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { Configuration } from '../../infra/host/configuration.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import { openViews, type ClickHouseViews, type ViewsPlace } from '../../infra/clickhouse/views.ts'
import type { Answered, RebuiltTable } from '../api/desk.ts'
import { catchUp } from '../project/catch-up.ts'
import { rebuild } from '../project/rebuild.ts'
import { fromDesk } from './desk-failed.ts'
import type { Session } from './session.ts'

/** The views of a folder that nobody else owns. */
export interface FolderViews {
  /** Opens them and brings them up to the end of the log. */
  readonly open: Answered<void>
  /** They are there once they are open. */
  readonly views: () => E.Either<ViewsUnavailable, Views>
  readonly rebuild: () => Answered<ReadonlyArray<RebuiltTable>>
  readonly close: () => Promise<void>
}

export const folderViews = (session: Session, log: EventLog): FolderViews => {
  let opened: E.Either<ViewsUnavailable, ClickHouseViews> = E.left(notOpen)
  return {
    open: async () => {
      const place = viewsPlace(session.configuration)
      opened = E.isLeft(place) ? place : await openViews(place.right)()
      if (E.isLeft(opened)) return opened
      const caughtUp = await showing(session, log, catchUp, opened.right)
      return E.isLeft(caughtUp) ? caughtUp : E.right(undefined)
    },
    views: () => opened,
    rebuild: () => async () => (E.isLeft(opened) ? opened : showing(session, log, rebuild, opened.right)),
    close: () => (E.isLeft(opened) ? Promise.resolve() : opened.right.close()),
  }
}

const notOpen: ViewsUnavailable = {
  type: 'ViewsUnavailable',
  kind: 'not-started',
  reason: 'they are not open',
  mend: 'ask with `leasehold sql`',
}

const showing = async <A>(
  session: Session,
  log: EventLog,
  work: (log: EventLog, views: ClickHouseViews, seen: (position: number) => void) => Answered<A>,
  views: ClickHouseViews,
): ReturnType<Answered<A>> => {
  const heads = await fromDesk(log.heads())
  const events = heads.reduce((sum, { size }) => sum + size, 0)
  const progress = session.progress('views', events)
  return work(log, views, (position) => {
    progress.at(position + 1)
  })().finally(progress.stop)
}

/** Where the configuration says that the views are; `Left`: nowhere. */
export const viewsPlace = ({ data, views }: Configuration): E.Either<ViewsUnavailable, ViewsPlace> => {
  if (views === 'none')
    return E.left({
      type: 'ViewsUnavailable',
      kind: 'not-started',
      reason: 'the configuration says that there are none',
      mend: 'set `views` to embedded, or to the URL of a ClickHouse server',
    })
  if (views === 'embedded') return E.right({ folder: join(data, 'views') })
  const url = new URL(views)
  const { username, password } = url
  const database = url.searchParams.get('database') ?? 'leasehold'
  return E.right({
    url: url.origin,
    user: username === '' ? 'default' : decodeURIComponent(username),
    password: decodeURIComponent(password),
    database,
  })
}
