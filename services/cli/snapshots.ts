import { join } from 'node:path'
import { snapshotStore, type SnapshotStore } from '../../infra/host/snapshot-store.ts'
import type { Session } from './session.ts'

/** Beside the log: what is there may be deleted at any time. */
export const snapshotsOf = ({ configuration }: Session): SnapshotStore =>
  snapshotStore(join(configuration.data, 'snapshots'))
