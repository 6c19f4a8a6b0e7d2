import { either as E, type taskEither as TE } from 'fp-ts'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventLog, LogUnavailable, StreamHead } from '../../domain/ports/event-log.ts'
import type { RebuiltTable, ViewsUnavailable } from '../../domain/ports/views.ts'
import { rebuildMend } from '../../infra/clickhouse/fault.ts'
import { openViews, type ClickHouseViews, type ViewsPlace } from '../../infra/clickhouse/views.ts'
import type { LogPlace } from '../../infra/host/open-log.ts'
import { Retried } from '../../infra/host/retried.ts'
import { within } from '../../infra/host/within.ts'
import { catchUp } from './catch-up.ts'
import { busy } from './project.ts'
import type { ProjectFault } from './projected-log.ts'
import { compared } from './rebuild.ts'
import { ThreadedProjector } from './threaded-projector.ts'

export const noViews: ViewsUnavailable = {
  type: 'ViewsUnavailable',
  kind: 'not-started',
  reason: 'views are switched off here',
  mend: 'start `leasehold up` with --views embedded, or set LEASEHOLD_VIEWS=embedded',
}

export interface Attaching {
  readonly log: EventLog
  /** Of the same log. */
  readonly logPlace: LogPlace
  readonly place: ViewsPlace
  readonly clock: Clock
}

interface Opened {
  readonly views: ClickHouseViews
  readonly projector: ThreadedProjector
}
type Opening = Retried<ViewsUnavailable, Opened>

const closeMaxMs = 3_000
const pollMs = 50

/** The views of a system that runs, and what brings the log into them. They are opened again until they can be. */
export class AttachedViews {
  private readonly parts: Attaching
  private opening: Opening
  private openingAnew = false
  private stopping = false

  constructor(parts: Attaching) {
    this.parts = parts
    this.opening = opened(parts, false)
  }

  /** Resolves when they have been tried once. */
  get tried(): Promise<void> {
    return this.opening.tried
  }

  get views(): E.Either<ViewsUnavailable, ClickHouseViews> {
    return E.map(({ views }: Opened) => views)(this.opening.current)
  }

  /** What is in their way; null: nothing. */
  get fault(): ProjectFault | null {
    const { current } = this.opening
    return E.isLeft(current) ? current.left : current.right.projector.status().fault
  }

  /** How far they are; null: there are none just now. */
  async status() {
    const { current } = this.opening
    if (E.isLeft(current)) return null
    const { projector, views } = current.right
    const { lagMs, projected } = projector.status()
    const end = await lastPosition(this.parts.log)
    const lagEvents = E.isLeft(end) ? 0 : Math.max(0, end.right - projected)
    return { kind: views.kind, engine: views.engine, projected, lagEvents, lagMs: lagMs as DurationMs }
  }

  /** Drops them and builds them again. Those that cannot be read are dropped unread, and compared with nothing. */
  rebuild(): TE.TaskEither<ProjectFault, ReadonlyArray<RebuiltTable>> {
    return async () => {
      const { current } = this.opening
      const built = E.isLeft(current) ? current : await current.right.projector.rebuild()()
      return E.isLeft(built) && built.left.mend === rebuildMend ? this.openAnew() : built
    }
  }

  async stop(): Promise<void> {
    this.stopping = true
    await closed(this.opening)
  }

  private async openAnew(): Promise<E.Either<ProjectFault, ReadonlyArray<RebuiltTable>>> {
    if (this.openingAnew) return E.left(busy)
    this.openingAnew = true
    try {
      await closed(this.opening)
      if (this.stopping) return E.left(busy)
      this.opening = opened(this.parts, true)
      await this.opening.tried
      const { current } = this.opening
      return E.isLeft(current) ? current : await this.filled(current.right)
    } finally {
      this.openingAnew = false
    }
  }

  private async filled({ projector, views }: Opened): Promise<E.Either<ProjectFault, ReadonlyArray<RebuiltTable>>> {
    const end = await lastPosition(this.parts.log)
    if (E.isLeft(end)) return end
    for (;;) {
      const { fault, projected } = projector.status()
      if (fault !== null) return E.left(fault)
      if (projected >= end.right) break
      if (this.stopping) return E.left(busy)
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
    const contents = await views.contents()()
    return E.isLeft(contents) ? contents : E.right(compared([], contents.right))
  }
}

const opened = ({ clock, logPlace, place }: Attaching, anew: boolean): Opening =>
  new Retried(
    async () => {
      const views = await openViews(place, { anew })()
      if (E.isLeft(views)) return views
      return E.right({ views: views.right, projector: new ThreadedProjector(logPlace, views.right.lent(), clock) })
    },
    { ...noViews, reason: 'the views are being opened', mend: 'ask again in a moment' },
  )

const closed = async (opening: Opening): Promise<void> => {
  const last = await opening.stop()
  if (E.isLeft(last)) return
  await last.right.projector.stop()
  await within(closeMaxMs, last.right.views.close())
}

const lastPosition = async (log: EventLog): Promise<E.Either<LogUnavailable, number>> =>
  E.map((heads: ReadonlyArray<StreamHead>) => heads.reduce((sum, { size }) => sum + size, 0) - 1)(await log.heads()())

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
