import { either as E, type taskEither as TE } from 'fp-ts'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import { openViews, type ClickHouseViews, type ViewsPlace } from '../../infra/clickhouse/views.ts'
import { Retried } from '../../infra/host/retried.ts'
import { within } from '../../infra/host/within.ts'
import { catchUp } from './catch-up.ts'
import { Projector } from './project.ts'

/** Views, and what brings the log into them. */
export interface Attached {
  readonly views: ClickHouseViews
  readonly projector: Projector
}
export type AttachedViews = Retried<ViewsUnavailable, Attached>

export const noViews: ViewsUnavailable = {
  type: 'ViewsUnavailable',
  kind: 'not-started',
  reason: 'there are no views here',
  mend: 'start it with views',
}

/** What is left to write when it stops is written within this; the rest is at the next start. */
const drainMaxMs = 3_000

export const attachViews = (log: EventLog, place: ViewsPlace, clock: Clock): AttachedViews =>
  new Retried(
    async () => {
      const views = await openViews(place)()
      if (E.isLeft(views)) return views
      return E.right({ views: views.right, projector: new Projector(log, views.right, clock) })
    },
    { ...noViews, reason: 'the views are being opened', mend: 'ask again in a moment' },
  )

export const detachViews = async (attached: AttachedViews): Promise<void> => {
  const last = await attached.stop()
  if (E.isLeft(last)) return
  await within(drainMaxMs, last.right.projector.stop())
  await within(drainMaxMs, last.right.views.close())
}

/** How far they are; null: there are none just now. */
export const attachedStatus = async (log: EventLog, attached: AttachedViews | null) => {
  if (attached === null || E.isLeft(attached.current)) return null
  const { projector, views } = attached.current.right
  const { lagMs, projected } = projector.status()
  const heads = await log.heads()()
  const events = E.isLeft(heads) ? projected + 1 : heads.right.reduce((sum, { size }) => sum + size, 0)
  const { engine, kind } = views
  return { kind, engine, projected, lagEvents: Math.max(0, events - 1 - projected), lagMs: lagMs as DurationMs }
}

/** What is in their way; null: nothing, or there are to be none. */
export const attachedFault = (
  attached: AttachedViews | null,
): { readonly reason: string; readonly mend: string } | null => {
  if (attached === null) return null
  return E.isLeft(attached.current) ? attached.current.left : attached.current.right.projector.status().fault
}

/** Views at the end of the log, of a folder whose system does not run. */
export const caughtUpViews =
  (log: EventLog, place: ViewsPlace): TE.TaskEither<ViewsUnavailable, ClickHouseViews> =>
  async () => {
    const views = await openViews(place)()
    if (E.isLeft(views)) return views
    const caughtUp = await catchUp(log, views.right)()
    if (E.isRight(caughtUp)) return views
    await views.right.close()
    const { mend, reason } = caughtUp.left
    return E.left(caughtUp.left.type === 'ViewsUnavailable' ? caughtUp.left : { ...noViews, reason, mend })
  }
