import type { EventLog, StoredEvent } from '../../domain/ports/event-log.ts'
import { fromLog, sizeOfCell } from './opened-log.ts'
import type { Session } from './session.ts'

const pageMax = 2_000

/** The session's stream in order, page by page. */
export async function* storedEvents(session: Session, log: EventLog): AsyncGenerator<StoredEvent> {
  const { configuration } = session
  await sizeOfCell(session, log)
  for (let revision = 0; ; revision += pageMax) {
    const page = fromLog(await log.readStream(configuration.cell, revision, pageMax)())
    yield* page
    if (page.length < pageMax) return
  }
}
