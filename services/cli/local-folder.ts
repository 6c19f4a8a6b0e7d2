import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { streamSize } from '../../infra/chain/chain-head.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { openLog } from '../../infra/host/open-log.ts'
import type { Desk } from '../api/desk.ts'
import type { Intake } from '../api/intake.ts'
import { openDesk } from '../api/local-desk.ts'
import { CellOwner } from '../decide/cell-owner.ts'
import { foldCell } from '../decide/fold.ts'
import { DeadLetters } from '../ingest/dead-letters.ts'
import { FactIntake } from '../ingest/fact-intake.ts'
import type { DeskNeeds } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { snapshotsOf } from './folded-cell.ts'
import { folderViews } from './folder-views.ts'
import { fromLog, sizeOfCell } from './opened-log.ts'
import type { Session } from './session.ts'
import { version } from './version.ts'

export interface OpenedFolder {
  readonly desk: Desk
  readonly close: () => Promise<void>
}

/** A desk over the data folder itself: to read, or, for whoever has claimed it, to order as well. */
export const openFolder = async (session: Session, { claims, creates, views }: DeskNeeds): Promise<OpenedFolder> => {
  const { configuration } = session
  const orders = claims !== undefined && views !== true
  const { log } = fromLog(await openLog(configuration.data, { readOnly: !orders })())
  const closing: Array<() => Promise<void>> = [log.close]
  const close = async () => {
    for (const each of closing.toReversed()) await each()
  }
  try {
    const events = creates === true ? 0 : await sizeOfCell(session, log)
    const progress = session.progress('events', events)
    const owned = orders ? await intakeOf(session, log) : null
    if (owned !== null) closing.push(owned.close)
    const kept = folderViews(session, log)
    closing.push(kept.close)
    if (views === true) await fromDesk(kept.open)
    const opened = await openDesk({
      version: version(),
      cell: configuration.cell,
      log,
      fold: (until) =>
        foldCell(log, configuration.cell, { until, snapshots: snapshotsOf(session), seen: progress.at }).finally(
          progress.stop,
        ),
      intake: owned === null ? E.left(readOnly(configuration.data)) : E.right(owned.intake),
      views: kept.views,
      rebuild: kept.rebuild,
      running: () => null,
      viewsStatus: () => Promise.resolve(null),
      degraded: () => [],
    })
    const desk = fromLog(opened)
    closing.push(desk.close)
    return { desk, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Instants before it are those of a trace: the cell's time goes on as it is told, not by the clock of this machine. */
const calendarFromMs = 946_684_800_000 as EpochMs

const intakeOf = async (session: Session, log: EventLog) => {
  const { cell: stream } = session.configuration
  const writer = { source: 'cli', actor: 'leasehold' }
  const last = fromLog(await lastInstant(log, stream))
  const ticks = last !== null && last < calendarFromMs ? 'events' : 'wall'
  const owner = fromLog(
    await CellOwner.open(log, {
      stream,
      ...writer,
      recordTime: () => systemClock.now(),
      clock: systemClock,
      ticks,
      snapshots: snapshotsOf(session),
      // Whoever ordered is told; the next verb opens the stream anew.
      faulted: () => undefined,
    }),
  )
  const deadLetters = fromLog(await DeadLetters.open(log, writer))
  const intake: Intake = new FactIntake({
    log,
    stream,
    deadLetters,
    clock: systemClock,
    orderTime: { now: () => owner.now },
    request: () => owner.request(),
  })
  return { intake, close: () => owner.close() }
}

const lastInstant = async (log: EventLog, stream: string): Promise<E.Either<LogUnavailable, EpochMs | null>> => {
  const size = await streamSize(log, stream)()
  if (E.isLeft(size) || size.right === 0) return E.isLeft(size) ? size : E.right(null)
  const last = await log.readMessages(stream, size.right - 1, 1)()
  return E.isLeft(last) ? last : E.right(last.right[0]?.at ?? null)
}

const readOnly = (folder: string): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'read-only',
  reason: `${folder} is open to be read`,
  mend: 'claim it first',
})
