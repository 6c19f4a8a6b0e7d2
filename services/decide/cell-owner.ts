import { randomUUID } from 'node:crypto'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { CellFact } from '../../domain/planner/cell-event.codec.ts'
import type { CellRejection } from '../../domain/planner/decide.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { AppendFault, EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { Rest } from '../../infra/host/rest.ts'
import type { SnapshotStore } from '../../infra/host/snapshot-store.ts'
import { CellWriter, type Origin, type Recording } from './cell-writer.ts'
import { foldCell, headOfStream, keepPicture, pictureOf, type CellPicture } from './fold.ts'
import { RecentIds } from './recent-ids.ts'

export interface Owning extends Recording {
  readonly clock: Clock
  /**
   * `wall`: it ticks by itself; `none`: it has the clock's time, and decides nothing but what follows from an input
   * itself; `events`: time comes with what is sent, and with nothing else.
   */
  readonly ticks: 'wall' | 'none' | 'events'
  readonly snapshots: SnapshotStore
  /** Told how long a pass over what came together, and making it durable, took; s. */
  readonly measured?: { readonly pass: (seconds: number) => void; readonly append: (seconds: number) => void }
  /** Told of a fault of the log, and with null that the cell goes on. */
  readonly faulted: (fault: AppendFault | null) => void
}

/** What became of one fact, said when all that was taken up to it is durable. */
export type Taken = E.Either<CellRejection, ReadonlyArray<CellDecision>>

/** How one request hands facts over: what it took since its last flush is answered by that flush. */
export interface RequestWriter {
  readonly isFull: boolean
  readonly take: (input: CellInput, id: string, origin?: Origin) => Taken
  readonly flush: () => Promise<E.Either<AppendFault, void>>
}

/** Requests that may wait for one flush; whoever comes then is asked to come back. */
const waitingMax = 4_096
/** A policy change and an hour's ends come due at most this late. */
const tickEveryMs = 1_000
const reopenBackOffMaxMs = 10_000
/** Events between two snapshots: what a start has to fold at most, but for what a kill leaves behind. */
const snapshotEveryEvents = 20_000

const busyFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'busy',
  reason: `${waitingMax} requests wait to be recorded`,
  mend: 'send again in a moment',
}
const closedFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'closed',
  reason: 'the system is stopping',
  mend: 'send again when it runs',
}

/**
 * Owns a cell: whoever wants something recorded goes through it. Requests take turns by what they have in hand, and
 * what they hand over while a flush is under way shares the next one. After a fault of the log the cell in memory is
 * ahead of it: those in hand get the fault, and the stream is opened anew.
 */
export class CellOwner {
  private readonly log: EventLog
  private readonly owning: Owning
  private writer: CellWriter
  /** Grows when the stream is opened anew: what was taken before is gone. */
  private generation = 0
  private broken: AppendFault | null = null
  private failed: AppendFault | null = null
  private closed = false
  private changed = false
  private waiting: ((flushed: E.Either<AppendFault, void>) => void)[] = []
  private flushing: Promise<void> | null = null
  private reopening: Promise<void> | null = null
  private readonly recent = new RecentIds()
  private readonly ticker: NodeJS.Timeout | null
  private readonly rest = new Rest()
  private readonly tickPrefix = `tick/${randomUUID()}`
  private tickCount = 0
  private keptSize: number
  private keeping: Promise<void> | null = null

  private constructor(log: EventLog, owning: Owning, writer: CellWriter) {
    this.log = log
    this.owning = owning
    this.writer = writer
    this.keptSize = writer.waiting.from
    this.ticker = owning.ticks === 'wall' ? setInterval(() => void this.tick(), tickEveryMs) : null
  }

  static async open(log: EventLog, owning: Owning): Promise<E.Either<LogUnavailable, CellOwner>> {
    const writer = await openWriter(log, owning)
    return E.isLeft(writer) ? writer : E.right(new CellOwner(log, owning, writer.right))
  }

  /** As decided so far, which is at most one flush ahead of the log. Another one after a fault: ask anew each time. */
  get cell(): Cell {
    return this.writer.cell
  }

  /** The instant that what happens now is recorded at. */
  get now(): EpochMs {
    const { clock, ticks } = this.owning
    return ticks === 'events' ? this.cell.now : (Math.max(clock.now(), this.cell.now) as EpochMs)
  }

  /** Why nothing can be handed over just now; null: it can. */
  get fault(): AppendFault | null {
    return this.broken
  }

  /** The fault of the last attempt to record something; null: it was recorded. */
  get unrecorded(): AppendFault | null {
    return this.failed
  }

  /** For one request. */
  request(): RequestWriter {
    const owner = (): CellOwner => this
    let generation: number | null = null
    return {
      get isFull() {
        return owner().writer.isFull
      },
      take: (input, id, origin) => {
        generation ??= this.generation
        // It is gone already, and the flush says so.
        if (this.broken !== null || generation !== this.generation) return E.right([])
        return this.take(input, id, origin)
      },
      flush: async () => {
        const of = generation ?? this.generation
        generation = null
        if (of === this.generation) return this.flush()
        return E.left(this.broken ?? lostFault)
      },
    }
  }

  /** Records what a part of this process has to say; the answers are in the order of the facts. */
  async record(
    facts: ReadonlyArray<CellFact>,
    origin: Origin = {},
  ): Promise<E.Either<AppendFault, ReadonlyArray<Taken>>> {
    if (this.waiting.length >= waitingMax) return E.left(busyFault)
    const ids = facts.map(({ id }) => id)
    const known = await this.log.known(this.owning.stream, ids)()
    if (E.isLeft(known)) return known
    const request = this.request()
    const taken: Taken[] = []
    for (const { id, ...input } of facts) {
      taken.push(known.right.has(id) ? repeated : request.take(input, id, origin))
      if (!request.isFull) continue
      const flushed = await request.flush()
      if (E.isLeft(flushed)) return flushed
    }
    const flushed = await request.flush()
    return E.isLeft(flushed) ? flushed : E.right(taken)
  }

  /** Decides what is due by now. */
  async tick(): Promise<E.Either<AppendFault, void>> {
    if (this.broken !== null || this.closed || this.cell.workloads.size === 0) return E.right(undefined)
    this.changed = true
    return this.flush()
  }

  /** Everything that was taken becomes durable, and nothing more is. */
  async close(): Promise<void> {
    if (this.ticker !== null) clearInterval(this.ticker)
    const flushed = this.flush()
    this.closed = true
    this.rest.end()
    await flushed
    await this.reopening
    await this.flushing
    await this.keeping
    if (this.broken !== null) return
    await keepPicture(this.picture(), await headOfStream(this.log, this.owning.stream), this.owning.snapshots)
  }

  private take(input: CellInput, id: string, origin?: Origin): Taken {
    if (this.recent.has(id)) return repeated
    const taken = this.writer.take(input, id, origin)
    if (E.isRight(taken) && (input.type !== 'Ticked' || taken.right.length > 0)) {
      this.recent.add(id)
      this.changed = true
    }
    return taken
  }

  /** Resolves when all that was taken before is durable. */
  private flush(): Promise<E.Either<AppendFault, void>> {
    if (this.broken !== null) return Promise.resolve(E.left(this.broken))
    if (this.closed) return Promise.resolve(E.left(closedFault))
    const flushed = new Promise<E.Either<AppendFault, void>>((settle) => this.waiting.push(settle))
    this.flushing ??= this.drain().finally(() => (this.flushing = null))
    return flushed
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      // Whatever else arrives in this turn goes along.
      await new Promise(setImmediate)
      const due = this.waiting
      this.waiting = []
      this.decideWhatIsDue()
      const picture = this.isPictureDue() ? this.picture() : null
      const records = this.writer.waiting.events.length > 0
      const since = performance.now()
      const flushed = await this.writer.flush()
      if (records) this.owning.measured?.append((performance.now() - since) / 1_000)
      if (E.isLeft(flushed)) this.breakOff(flushed.left)
      else if (records) this.failed = null
      for (const settle of due) settle(flushed)
      if (E.isLeft(flushed)) {
        for (const settle of this.waiting.splice(0)) settle(flushed)
        return
      }
      if (picture !== null) await this.keep(picture)
    }
  }

  /** One tick for all that came together. */
  private decideWhatIsDue(): void {
    if (!this.changed || this.owning.ticks !== 'wall') return
    this.changed = false
    const id = `${this.tickPrefix}/${this.tickCount++}`
    const since = performance.now()
    this.writer.take({ type: 'Ticked', at: this.now, data: {} }, id)
    this.owning.measured?.pass((performance.now() - since) / 1_000)
  }

  private get size(): number {
    const { from, events } = this.writer.waiting
    return from + events.length
  }

  private picture(): CellPicture {
    return pictureOf(this.cell, this.size)
  }

  private isPictureDue(): boolean {
    return this.keeping === null && this.size - this.keptSize >= snapshotEveryEvents
  }

  /** Resolves when the head of the stream has been asked for; the file is written while others go on. */
  private async keep(picture: CellPicture): Promise<void> {
    this.keptSize = picture.size
    const head = await headOfStream(this.log, picture.stream)
    this.keeping = keepPicture(picture, head, this.owning.snapshots).finally(() => (this.keeping = null))
  }

  private breakOff(fault: AppendFault): void {
    this.broken = fault
    this.failed = fault
    this.owning.faulted(fault)
    this.reopening = this.reopen().finally(() => (this.reopening = null))
  }

  private async reopen(): Promise<void> {
    for (let waitMs = 0; !this.closed; waitMs = Math.min(Math.max(waitMs * 2, 100), reopenBackOffMaxMs)) {
      await this.rest.for(waitMs)
      const opened = await openWriter(this.log, this.owning)
      if (E.isLeft(opened)) continue
      this.writer = opened.right
      this.generation += 1
      this.recent.clear()
      this.changed = true
      this.broken = null
      this.owning.faulted(null)
      return
    }
  }
}

const repeated: Taken = E.left({ type: 'Repeated' })

const lostFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'input-output',
  reason: 'the log failed while this was in hand',
  mend: 'send it again: what is recorded already is answered as a duplicate',
}

const openWriter = async (log: EventLog, owning: Owning): Promise<E.Either<LogUnavailable, CellWriter>> => {
  const folded = await foldCell(log, owning.stream, { snapshots: owning.snapshots })
  return E.isLeft(folded) ? folded : E.right(new CellWriter(log, owning, folded.right))
}

/** What is told of a fault of the owner's log: nobody else is to write to the stream. */
export const asUnavailable = (fault: AppendFault): LogUnavailable =>
  fault.type === 'LogUnavailable'
    ? fault
    : {
        type: 'LogUnavailable',
        kind: 'locked',
        reason: 'another process writes to this log',
        mend: 'stop it, or name another folder with --data',
      }
