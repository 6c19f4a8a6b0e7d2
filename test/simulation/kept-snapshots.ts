import { either as E } from 'fp-ts'
import type { Snapshot, SnapshotStore } from '../../infra/host/snapshot-store.ts'
import type { Lifeline } from './lifeline.ts'

/** Snapshots that outlive the processes that save them. */
export class KeptSnapshots {
  private kept: Snapshot | null = null

  of(life: Lifeline): SnapshotStore {
    return {
      save: (snapshot) => () =>
        life.outside(() => {
          this.kept = snapshot
          return E.right(undefined)
        }),
      load: async (stream, log) => {
        if (this.kept === null) return { snapshot: null, reason: 'there is none' }
        const event = await log.readStream(stream, this.kept.revision, 1)()
        const isOurs = E.isRight(event) && event.right[0]?.hash === this.kept.hash
        return isOurs ? { snapshot: this.kept } : { snapshot: null, reason: 'it is of another log' }
      },
    }
  }
}
