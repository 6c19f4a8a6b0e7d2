import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { snapshotStore } from '../../infra/host/snapshot-store.ts'
import type { Metrics } from '../api/metrics.ts'
import { CellOwner, type Owning } from '../decide/cell-owner.ts'
import { DeadLetters } from '../ingest/dead-letters.ts'
import { FactIntake } from '../ingest/fact-intake.ts'

/** A log whose time is before this counts from the start of a trace. */
export const calendarFrom = Date.UTC(2000, 0, 1)

export interface WayIn {
  readonly owner: CellOwner
  readonly intake: FactIntake
}

export const snapshotsIn = (folder: string) => snapshotStore(join(folder, 'snapshots'))

export const openWayIn = async (
  log: EventLog,
  folder: string,
  stream: string,
  ticks: Owning['ticks'],
  metrics: Metrics | null = null,
): Promise<E.Either<LogUnavailable, WayIn>> => {
  const writer = { source: 'leasehold', actor: 'leasehold' }
  const owner = await CellOwner.open(log, {
    stream,
    ...writer,
    recordTime: systemClock.now,
    clock: systemClock,
    ticks,
    snapshots: snapshotsIn(folder),
    faulted: () => undefined,
    ...(metrics !== null && {
      measured: {
        pass: (s) => {
          metrics.observePass(s)
        },
        append: (s) => {
          metrics.observeAppend(s)
        },
      },
    }),
  })
  if (E.isLeft(owner)) return owner
  const deadLetters = await DeadLetters.open(log, { source: 'ingest', actor: 'ingest' })
  if (E.isLeft(deadLetters)) {
    await owner.right.close()
    return deadLetters
  }
  const orderTime = { now: () => owner.right.now }
  const request = () => owner.right.request()
  const intake = new FactIntake({ log, stream, deadLetters: deadLetters.right, clock: systemClock, orderTime, request })
  return E.right({ owner: owner.right, intake })
}
