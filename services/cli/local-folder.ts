import type { Desk } from '../api/desk.ts'
import { openFolder } from '../system/opened-folder.ts'
import type { DeskNeeds } from './desk.ts'
import { logServer } from './log-place.ts'
import { fromLog, sizeOfCell, withLog } from './opened-log.ts'
import type { Session } from './session.ts'
import { version } from './version.ts'
import { viewsPlace } from './views-place.ts'

/** Lends a desk over the data folder itself: to read, or, for whoever has claimed it, to order as well. */
export const onFolder = async <A>(
  session: Session,
  { claims, creates, views = false }: DeskNeeds,
  use: (desk: Desk) => Promise<A>,
): Promise<A> => {
  const { configuration } = session
  const writes = claims !== undefined && !views
  if (creates !== true) await withLog(session, (log) => sizeOfCell(session, log))
  const { close, desk } = fromLog(
    await openFolder({
      folder: configuration.data,
      logServer: logServer(configuration),
      cell: configuration.cell,
      version: version(),
      writes,
      views: views ? viewsPlace(configuration) : null,
    }),
  )
  try {
    return await use(desk)
  } finally {
    await close()
  }
}
