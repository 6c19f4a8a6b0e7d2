import { either as E } from 'fp-ts'
import { canonicalJson, type Json } from '../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { Cell, evolve } from '../../domain/planner/cell.ts'
import {
  cellEventVersions,
  type CellDecision,
  type CellEvent,
  type CellInput,
} from '../../domain/planner/cell-event.ts'
import { decide, type CellRejection } from '../../domain/planner/decide.ts'
import type { AppendFault, EventLog, LogUnavailable, NewEvent } from '../../domain/ports/event-log.ts'

/** Who records, and by which clock. */
export interface Recording {
  readonly stream: string
  readonly source: string
  readonly actor: string
  /** Record time of an event that happened then; a simulation records at the instant itself. */
  readonly recordTime: (eventTime: EpochMs) => EpochMs
}

/** The folder holds another history than the one that is being recorded: they part at this revision of the stream. */
export interface HistoryDiffers {
  readonly type: 'HistoryDiffers'
  readonly stream: string
  readonly revision: number
  readonly stored: string
  readonly ours: string
}

/** Events that one append takes at most, unless one input alone is decided into more. */
export const recordBatchMax = 1_000

/**
 * The one writer of a cell: it decides about inputs in memory and records them, each with its decisions behind it, in
 * batches. What `flush` has not acknowledged is not yet known to anybody. Where the stream holds these very events
 * already, because an earlier run was interrupted, it goes along with them and appends what is missing.
 */
export class CellRecorder {
  readonly cell: Cell
  private readonly log: EventLog
  private readonly recording: Recording
  /** Events before this revision are recorded. */
  private revision = 0
  private readonly storedSize: number
  private readonly kept: (stream: string, message: NewEvent['message']) => void
  private pending: NewEvent[] = []
  events = 0
  decisions = 0

  /**
   * @param storedSize events that the stream holds already
   * @param kept       told of each event in order, recorded before or now
   */
  constructor(
    log: EventLog,
    recording: Recording,
    storedSize: number,
    kept: (stream: string, message: NewEvent['message']) => void = () => undefined,
  ) {
    this.log = log
    this.recording = recording
    this.storedSize = storedSize
    this.kept = kept
    this.cell = new Cell(recording.stream)
  }

  get isFull(): boolean {
    return this.pending.length >= recordBatchMax
  }

  /** Decides about an input and keeps it for the next flush. A tick that decides nothing is not kept. */
  take(input: CellInput, id: string): E.Either<CellRejection, ReadonlyArray<CellDecision>> {
    const { cell } = this
    const decided = decide(input, cell)
    if (E.isLeft(decided)) return decided
    const decisions = decided.right
    if (input.type === 'Ticked' && decisions.length === 0) {
      cell.settle()
      return decided
    }
    this.keep(input, id, null)
    evolve(cell, input)
    decisions.forEach((decision, i) => {
      this.keep(decision, `${id}/${i}`, id)
      evolve(cell, decision)
    })
    this.events += 1 + decisions.length
    this.decisions += decisions.length
    return decided
  }

  /** Resolves when all that was taken is durable. */
  async flush(): Promise<E.Either<AppendFault | HistoryDiffers, void>> {
    const compared = await this.goAlong()
    if (E.isLeft(compared) || this.pending.length === 0) return compared
    const { log, recording, revision, pending } = this
    const appended = await log.append(recording.stream, revision - 1, pending)()
    if (E.isLeft(appended)) return appended
    this.revision += pending.length
    this.pending = []
    return E.right(undefined)
  }

  /** Compares what is pending with what the stream holds at those revisions, and drops what it holds. */
  private async goAlong(): Promise<E.Either<LogUnavailable | HistoryDiffers, void>> {
    const { log, recording } = this
    const { stream } = recording
    const count = Math.min(this.pending.length, this.storedSize - this.revision)
    if (count <= 0) return E.right(undefined)
    const read = await log.readMessages(stream, this.revision, count)()
    if (E.isLeft(read)) return read
    for (const [i, message] of read.right.entries()) {
      const stored = canonicalJson(message as unknown as Json)
      const ours = canonicalJson(this.pending[i]!.message as unknown as Json)
      if (stored !== ours) return E.left({ type: 'HistoryDiffers', stream, revision: this.revision + i, stored, ours })
    }
    this.revision += count
    this.pending = this.pending.slice(count)
    return E.right(undefined)
  }

  private keep(event: CellEvent, id: string, causation: string | null): void {
    const { stream, source, actor, recordTime } = this.recording
    const message = event as unknown as NewEvent['message']
    this.kept(stream, message)
    this.pending.push({
      id,
      message,
      version: cellEventVersions[event.type],
      source,
      actor,
      recordTime: recordTime(event.at),
      causation,
      correlation: null,
      policy: this.cell.policyHash,
    })
  }
}
