import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { EventLog, LogUnavailable, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'
import { logFaultOf } from '../../infra/chain/subscription.ts'
import { DeadLetterIndex, deadLetterStream } from './dead-letter-index.ts'
import { NameSet } from './name-set.ts'
import { endBy, type Ended } from './workload-state.ts'

/** Ends that are remembered; those of older ones are read from the log. */
const endsMax = 10_000
const pageMax = 2_000
/** How long a question waits for what was acknowledged before it. */
const followTimeMaxMs = 10_000
/** Listeners to what is followed: streams of events to clients, and whoever waits for an order. */
export type Heard = (batch: ReadonlyArray<StoredEvent>) => void

/** What the log says, kept in memory as it grows: nothing that is not durable is ever in it. */
export class Follower {
  readonly cell: Cell
  readonly deadLetters = new DeadLetterIndex()
  /** Last position that was followed, -1 for none. */
  position: number
  /** Position that somebody was told of: whoever asks next waits until it has been followed. */
  private told = -1
  /** What ended the following; null: it goes on. */
  fault: LogUnavailable | null = null
  /** Decisions by type since the following began. */
  readonly decisions = new Map<string, number>()
  private readonly log: EventLog
  /** Of the cell's stream. */
  private size: number
  private readonly startSize: number
  private readonly ends = new Map<string, Ended>()
  private readonly names = new NameSet()
  private past: Promise<E.Either<LogUnavailable, void>> | null = null
  /** Of what waits or runs: when it was requeued, or said to have started. */
  private readonly changes = new Map<string, EpochMs>()
  private readonly listeners = new Set<Heard>()
  private subscription: Subscription | null = null

  private constructor(log: EventLog, { cell, size }: { readonly cell: Cell; readonly size: number }, position: number) {
    this.log = log
    this.cell = cell
    this.size = size
    this.startSize = size
    this.position = position
  }

  /** @param folded the cell, of its own, after so many events of its stream */
  static async open(
    log: EventLog,
    folded: { readonly cell: Cell; readonly size: number },
  ): Promise<E.Either<LogUnavailable, Follower>> {
    let position = -1
    if (folded.size > 0) {
      const last = await log.readStream(folded.cell.name, folded.size - 1, 1)()
      if (E.isLeft(last)) return last
      position = last.right[0]?.position ?? -1
    }
    const follower = new Follower(log, folded, position)
    const caughtUp = await follower.deadLetters.catchUp(log)
    if (E.isLeft(caughtUp)) return caughtUp
    follower.start()
    return E.right(follower)
  }

  /** Calls back with what was followed, until the function that it returns is called. */
  listen(heard: Heard): () => void {
    this.listeners.add(heard)
    return () => this.listeners.delete(heard)
  }

  /** What is at this position has been acknowledged. */
  tellOf(position: number): void {
    this.told = Math.max(this.told, position)
  }

  /** Resolves when all that was acknowledged has been followed; what is followed late is shown late. */
  caughtUp(): Promise<void> {
    return this.reachedOr(this.told, followTimeMaxMs)
  }

  /** Resolves when the position has been followed, or nothing is followed any more, or the time is up, or by the signal. */
  async reachedOr(position: number, timeMaxMs: number, signal?: AbortSignal): Promise<void> {
    if (this.position >= position || this.fault !== null || signal?.aborted === true) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        unlisten()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, timeMaxMs)
      const unlisten = this.listen(() => {
        if (this.position >= position || this.fault !== null) done()
      })
      signal?.addEventListener('abort', done)
    })
  }

  /** Whether a workload of this name was ever submitted. The first question reads what was not followed. */
  async wasUsed(name: string): Promise<E.Either<LogUnavailable, boolean>> {
    const past = await this.readPast()
    return E.isLeft(past) ? past : E.right(this.names.has(name))
  }

  /** How it ended, if that is remembered; null: it did not, or so long ago that only the log knows. */
  async endOf(name: string): Promise<E.Either<LogUnavailable, Ended | null>> {
    const past = await this.readPast()
    return E.isLeft(past) ? past : E.right(this.ends.get(name) ?? null)
  }

  changedAt(name: string): EpochMs | undefined {
    return this.changes.get(name)
  }

  /** Reads what lies before the fold: the names that were used, and the last ends. Once, and again after a fault. */
  readPast(): Promise<E.Either<LogUnavailable, void>> {
    this.past ??= this.readNames().then((read) => {
      if (E.isLeft(read)) this.past = null
      return read
    })
    return this.past
  }

  async stop(): Promise<void> {
    await this.subscription?.stop()
    this.fault ??= stoppedFault
    this.tell([])
  }

  private start(): void {
    let position = this.position
    const checkpoint = {
      load: () => Promise.resolve(position),
      save: (at: number) => {
        position = at
        return Promise.resolve()
      },
    }
    this.subscription = this.log.subscribe(checkpoint, (batch) => {
      this.follow(batch)
      return Promise.resolve()
    })
    this.subscription.ended.catch((cause: unknown) => {
      this.fault = faultOf(cause)
      this.tell([])
    })
  }

  private follow(batch: ReadonlyArray<StoredEvent>): void {
    for (const event of batch) {
      if (event.stream === deadLetterStream) this.deadLetters.follow(event)
      else if (event.stream === this.cell.name && event.revision >= this.size) this.followCell(event)
      this.position = event.position
    }
    this.tell(batch)
  }

  private followCell({ message, revision }: StoredEvent): void {
    const event = message as unknown as CellEvent
    evolve(this.cell, event)
    this.size = revision + 1
    this.note(event)
    if (!isInput(event)) this.decisions.set(event.type, (this.decisions.get(event.type) ?? 0) + 1)
    if (event.type === 'AttemptStopped' && event.data.requeued) this.changes.set(event.data.workload, event.at)
    else if (event.type === 'CommandConcluded' && event.data.outcome === 'done')
      this.noteStart(event.data.workload, event.at)
    else if (event.type === 'WorkloadAdmitted') this.changes.delete(event.data.workload)
  }

  private noteStart(workload: string, at: EpochMs): void {
    if (!this.changes.has(workload)) this.changes.set(workload, at)
  }

  private note(event: CellEvent): void {
    if (event.type === 'WorkloadSubmitted') this.names.add(event.data.workload)
    const end = endBy(event)
    if (end === null) return
    if (end.state === 'requeued') {
      this.ends.delete(end.workload)
      return
    }
    this.changes.delete(end.workload)
    this.ends.set(end.workload, end)
    if (this.ends.size <= endsMax) return
    for (const oldest of this.ends.keys()) {
      this.ends.delete(oldest)
      return
    }
  }

  private async readNames(): Promise<E.Either<LogUnavailable, void>> {
    const past = new Map<string, Ended>()
    for (let from = 0; from < this.startSize; from += pageMax) {
      const page = await this.log.readMessages(this.cell.name, from, Math.min(pageMax, this.startSize - from))()
      if (E.isLeft(page)) return page
      for (const message of page.right) this.notePast(message as unknown as CellEvent, past)
      await new Promise(setImmediate)
    }
    // Those that were followed meanwhile are newer.
    const followed = [...this.ends]
    this.ends.clear()
    for (const [name, end] of [...past, ...followed].slice(-endsMax)) this.ends.set(name, end)
    return E.right(undefined)
  }

  private notePast(event: CellEvent, ends: Map<string, Ended>): void {
    if (event.type === 'WorkloadSubmitted') this.names.add(event.data.workload)
    const end = endBy(event)
    if (end === null) return
    ends.delete(end.workload)
    if (end.state === 'requeued') return
    ends.set(end.workload, end)
    if (ends.size > endsMax) for (const oldest of ends.keys()) return void ends.delete(oldest)
  }

  private tell(batch: ReadonlyArray<StoredEvent>): void {
    for (const heard of this.listeners) heard(batch)
  }
}

const stoppedFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'closed',
  reason: 'the system is stopping',
  mend: 'ask again when it runs',
}

const faultOf = (cause: unknown): LogUnavailable => {
  const words = cause instanceof Error ? cause.message : String(cause)
  return (
    logFaultOf(cause) ?? {
      type: 'LogUnavailable',
      kind: 'damaged',
      reason: `what the log holds does not follow from what lies before it: ${words}`,
      mend: 'run `leasehold audit verify`, and restore the log from a copy that passes',
    }
  )
}
