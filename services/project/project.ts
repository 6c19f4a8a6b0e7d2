import { either as E, type taskEither as TE } from 'fp-ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventLog, LogUnavailable, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'
import { logFaultOf } from '../../infra/chain/subscription.ts'
import { batchRowsMax, resume, takeBatch, tell, type ProjectedLog, type ProjectFault } from './projected-log.ts'
import { rebuildAt, type CountedViews } from './rebuild.ts'

export interface ProjectorOptions {
  /** What is there is written so long after it came, so that more can come with it; ms. */
  readonly lingerMs?: number
  /** Between two attempts to reach views that are not there; ms, doubled from the first to the last. */
  readonly backOffMinMs?: number
  readonly backOffMaxMs?: number
  /** Called when it stands otherwise than before. */
  readonly moved?: () => void
}

/** How far the views are. */
export interface Standing {
  /** Last position whose rows are in; -1 for none, or not known yet. */
  readonly projected: number
  /** Last position that was read. */
  readonly told: number
  /** When the oldest came of what was read and is not in; null: all is in. */
  readonly since: number | null
  /** What is in the way now; null: nothing. */
  readonly fault: ProjectFault | null
}

export interface ProjectorStatus extends Omit<Standing, 'since'> {
  /** How long the oldest of what was read and is not in has waited, ms. */
  readonly lagMs: number
}

export const statusAt = ({ fault, projected, since, told }: Standing, now: number): ProjectorStatus => ({
  ...{ fault, projected, told },
  lagMs: since === null ? 0 : Math.max(0, now - since),
})

const lingerMs = 50
const backOffMinMs = 100
const backOffMaxMs = 10_000
/** Rows that wait to be written; the log is not read further before they are fewer. */
const waitingRowsMax = 2 * batchRowsMax
/** Attempts to write what is left when it stops: what is not written then is written at the next start. */
const drainAttemptsMax = 2

/**
 * Follows the log and brings rows and position into the views, in batches as large as what has come meanwhile. The log never
 * waits for it; views that are not there are tried again, ever more rarely, until they are.
 */
export class Projector {
  private readonly log: EventLog
  private readonly views: CountedViews
  private readonly clock: Clock
  private readonly options: Required<ProjectorOptions>
  /** Null until it is known how far the views are. */
  private state: ProjectedLog | null = null
  private written = -1
  private viewsFault: ProjectFault | null = null
  private logFault: LogUnavailable | null = null
  private stopping = false
  /** A batch was taken and did not get in: nothing may after it, or the position would pass it over. */
  private gaveUp = false
  private subscription: Subscription | null = null
  private subscribing: NodeJS.Timeout | undefined
  /** What the subscription still delivers is dropped: another one begins where the views are. */
  private dropping = false
  private wake: () => void = () => undefined
  private readonly waiters = new Set<() => void>()
  /** When the oldest event came that waits to be taken, and the oldest of the batch that is under way. */
  private waitingSince: number | null = null
  private underWaySince: number | null
  /** Who asked to have the views built again, which is done between two batches. */
  private asked: ((built: E.Either<ProjectFault, ReadonlyArray<RebuiltTable>>) => void) | null = null
  private readonly running: Promise<void>

  constructor(log: EventLog, views: CountedViews, clock: Clock, options: ProjectorOptions = {}) {
    this.log = log
    this.views = views
    this.clock = clock
    this.options = { lingerMs, backOffMinMs, backOffMaxMs, moved: () => undefined, ...options }
    this.underWaySince = clock.now()
    this.running = this.run()
  }

  status(): ProjectorStatus {
    return statusAt(this.standing(), this.clock.now())
  }

  standing(): Standing {
    return {
      projected: this.written,
      told: this.state?.told ?? -1,
      since: this.underWaySince ?? this.waitingSince,
      fault: this.viewsFault ?? this.logFault,
    }
  }

  /** Resolves with true when everything up to this position is in the views, with false when it stops before that. */
  async settled(position: number): Promise<boolean> {
    while (this.written < position && !this.stopping) await this.nextChange()
    return this.written >= position
  }

  /**
   * Drops the views and builds them again, up to where they are now; what comes meanwhile is projected afterwards. Compares
   * what they held with what they hold.
   */
  rebuild(): TE.TaskEither<ProjectFault, ReadonlyArray<RebuiltTable>> {
    return () => {
      if (this.viewsFault !== null) return Promise.resolve(E.left(this.viewsFault))
      if (this.asked !== null || this.stopping) return Promise.resolve(E.left(busy))
      return new Promise((resolve) => {
        this.asked = resolve
        this.wake()
      })
    }
  }

  /** Writes what has been read, if the views take it, and ends. */
  async stop(): Promise<void> {
    this.stopping = true
    this.wake()
    this.changed()
    await this.subscription?.stop()
    await this.running
    this.changed()
  }

  private async run(): Promise<void> {
    let waitMs = this.options.backOffMinMs
    while (!this.stopping) {
      if (this.state === null) {
        if (await this.begin()) waitMs = this.options.backOffMinMs
        else {
          await this.rest(waitMs)
          waitMs = this.longer(waitMs)
        }
      } else if (this.asked !== null) await this.rebuildFor(this.state, this.asked)
      else if (this.state.told > this.written) await this.writeSome(this.state)
      else await this.rest(null)
    }
    this.asked?.(E.left(busy))
    if (this.state !== null) await this.write(this.state)
  }

  /** Finds out how far the views are, and follows the log from there. */
  private async begin(): Promise<boolean> {
    const resumed = await resume(this.log, this.views)()
    this.viewsFault = E.isLeft(resumed) ? resumed.left : null
    if (E.isLeft(resumed)) {
      this.options.moved()
      return false
    }
    this.state = resumed.right
    this.written = resumed.right.told
    this.underWaySince = null
    this.changed()
    this.subscribe(this.options.backOffMinMs)
    return true
  }

  /** The log ends a subscription that it cannot serve; it is asked again, as the views are. */
  private subscribe(waitMs: number): void {
    clearTimeout(this.subscribing)
    if (this.stopping) return
    const checkpoint = { load: () => Promise.resolve(this.state?.told ?? -1), save: () => Promise.resolve() }
    this.subscription = this.log.subscribe(checkpoint, (batch) => this.take(batch))
    this.subscription.ended.catch((cause: unknown) => {
      this.logFault = faultOf(cause)
      this.options.moved()
      if (this.logFault.kind === 'damaged' || this.logFault.kind === 'closed') return
      this.subscribing = setTimeout(() => {
        this.subscribe(this.longer(waitMs))
      }, waitMs).unref()
    })
  }

  private async take(batch: ReadonlyArray<StoredEvent>): Promise<void> {
    while (this.mustWait) await this.nextChange()
    if (this.dropping || this.state === null || this.isFull) return
    this.logFault = null
    this.waitingSince ??= this.clock.now()
    const told = tell(this.state, batch)
    this.options.moved()
    this.wake()
    if (E.isLeft(told)) throw new Error(told.left.reason, { cause: told.left })
  }

  private get isFull(): boolean {
    return (this.state?.projection.size ?? 0) >= waitingRowsMax
  }
  private get mustWait(): boolean {
    return !this.stopping && !this.dropping && (this.asked !== null || this.isFull)
  }

  private async writeSome(state: ProjectedLog): Promise<void> {
    if (state.projection.size < batchRowsMax) await this.rest(this.options.lingerMs)
    this.underWaySince = this.waitingSince
    this.waitingSince = null
    await this.write(state)
  }

  /** Everything that it was told, until it is in; when it is stopping, only a few times. */
  private async write(state: ProjectedLog): Promise<void> {
    if (this.gaveUp || state.told <= this.written) return
    const { upTo, tables } = takeBatch(state)
    let attempts = 0
    for (let waitMs = this.options.backOffMinMs; ; waitMs = this.longer(waitMs)) {
      const done = await this.views.write(upTo, tables)()
      if (E.isRight(done)) break
      this.viewsFault = done.left
      this.options.moved()
      if (this.stopping && ++attempts >= drainAttemptsMax) {
        this.gaveUp = true
        return
      }
      await this.rest(this.stopping ? this.options.backOffMinMs : waitMs)
    }
    this.viewsFault = null
    this.underWaySince = null
    this.written = upTo
    this.changed()
  }

  private async rebuildFor(state: ProjectedLog, answer: NonNullable<typeof this.asked>): Promise<void> {
    await this.write(state)
    if (this.gaveUp) return
    const built = await rebuildAt(this.log, this.views, state.told)()
    if (E.isRight(built)) this.state = built.right.projected
    else await this.beginAnew(built.left)
    this.asked = null
    this.changed()
    answer(E.map(({ tables }: { readonly tables: ReadonlyArray<RebuiltTable> }) => tables)(built))
  }

  /** What was dropped and is not there again is projected from where the views are then. */
  private async beginAnew(fault: ProjectFault): Promise<void> {
    this.viewsFault = fault
    this.dropping = true
    this.changed()
    await this.subscription?.stop()
    this.dropping = false
    this.state = null
    this.written = -1
    this.underWaySince = this.clock.now()
  }

  private longer(waitMs: number): number {
    return Math.min(this.options.backOffMaxMs, 2 * waitMs)
  }

  /** So long, unless it is stopped or asked for something; null: until something comes. */
  private rest(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? null : setTimeout(resolve, ms)
      this.wake = () => {
        if (timer !== null && !this.stopping) return
        if (timer !== null) clearTimeout(timer)
        resolve()
      }
    })
  }

  private nextChange(): Promise<void> {
    return new Promise((resolve) => this.waiters.add(resolve))
  }

  private changed(): void {
    this.options.moved()
    const told = [...this.waiters]
    this.waiters.clear()
    for (const tellOne of told) tellOne()
  }
}

export const busy: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'busy',
  reason: 'the views are being built again already, or the projection is being stopped',
  mend: 'ask again in a moment',
}

const faultOf = (cause: unknown): LogUnavailable =>
  logFaultOf(cause) ?? {
    type: 'LogUnavailable',
    kind: 'input-output',
    reason: String(cause),
    mend: 'see the log of the process',
  }
