import { join } from 'node:path'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { snapshotStore, type SnapshotStore } from '../../infra/host/snapshot-store.ts'
import { foldCell, type Folded } from '../decide/fold.ts'
import { instantFrom } from './instant.ts'
import { fromLog, sizeOfCell } from './opened-log.ts'
import type { Session } from './session.ts'

/** The session's cell as the log tells it, up to the instant that was asked for. */
export const foldedCell = async (session: Session, log: EventLog, at: string | undefined): Promise<Folded> => {
  const { cell: stream } = session.configuration
  const until = instantFrom(at)
  const progress = session.progress('events', await sizeOfCell(session, log))
  try {
    return fromLog(await foldCell(log, stream, { until, snapshots: snapshotsOf(session), seen: progress.at }))
  } finally {
    progress.stop()
  }
}

/** Beside the log: what is there may be deleted at any time. */
export const snapshotsOf = ({ configuration }: Session): SnapshotStore =>
  snapshotStore(join(configuration.data, 'snapshots'))
