import { either as E } from 'fp-ts'
import { canonicalJson, type Json } from '../../domain/kernel/canonical-json.ts'
import { Cell } from '../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { CellRejection } from '../../domain/planner/decide.ts'
import type { AppendFault, EventLog, LogUnavailable, NewEvent } from '../../domain/ports/event-log.ts'
import { CellWriter, type Recording } from './cell-writer.ts'

/** The folder holds another history than the one that is being recorded: they part at this revision of the stream. */
export interface HistoryDiffers {
  readonly type: 'HistoryDiffers'
  readonly stream: string
  readonly revision: number
  readonly stored: string
  /** Null: the run is over, and the stream goes on. */
  readonly ours: string | null
}

/**
 * Writes a cell from its first event on. Where the stream holds these very events already, because an earlier run was
 * interrupted, it goes along with them and appends what is missing.
 */
export class CellRecorder {
  private readonly log: EventLog
  private readonly stream: string
  private readonly storedSize: number
  private readonly writer: CellWriter
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
    kept?: (stream: string, message: NewEvent['message']) => void,
  ) {
    this.log = log
    this.stream = recording.stream
    this.storedSize = storedSize
    this.writer = new CellWriter(log, recording, { cell: new Cell(recording.stream), size: 0 }, kept)
  }

  get cell(): Cell {
    return this.writer.cell
  }

  get isFull(): boolean {
    return this.writer.isFull
  }

  /** Decides about an input and keeps it for the next flush. A tick that decides nothing is not kept. */
  take(input: CellInput, id: string): E.Either<CellRejection, ReadonlyArray<CellDecision>> {
    const decided = this.writer.take(input, id)
    if (E.isLeft(decided)) return decided
    const decisions = decided.right.length
    if (input.type !== 'Ticked' || decisions > 0) this.events += 1 + decisions
    this.decisions += decisions
    return decided
  }

  /** Resolves when all that was taken is durable. */
  async flush(): Promise<E.Either<AppendFault | HistoryDiffers, void>> {
    const compared = await this.goAlong()
    return E.isLeft(compared) ? compared : this.writer.flush()
  }

  /** The same, once the run is over: a stream that goes on behind it is the log of another run. */
  async finish(): Promise<E.Either<AppendFault | HistoryDiffers, void>> {
    const flushed = await this.flush()
    const { from } = this.writer.waiting
    if (E.isLeft(flushed) || from >= this.storedSize) return flushed
    const read = await this.log.readMessages(this.stream, from, 1)()
    if (E.isLeft(read)) return read
    const stored = canonicalJson((read.right[0] ?? null) as unknown as Json)
    return E.left({ type: 'HistoryDiffers', stream: this.stream, revision: from, stored, ours: null })
  }

  /** Compares what is pending with what the stream holds at those revisions, and drops what it holds. */
  private async goAlong(): Promise<E.Either<LogUnavailable | HistoryDiffers, void>> {
    const { stream, writer } = this
    const { from, events } = writer.waiting
    const count = Math.min(events.length, this.storedSize - from)
    if (count <= 0) return E.right(undefined)
    const read = await this.log.readMessages(stream, from, count)()
    if (E.isLeft(read)) return read
    for (const [i, message] of read.right.entries()) {
      const stored = canonicalJson(message as unknown as Json)
      const ours = canonicalJson(events[i]!.message as unknown as Json)
      if (stored !== ours) return E.left({ type: 'HistoryDiffers', stream, revision: from + i, stored, ours })
    }
    writer.skip(count)
    return E.right(undefined)
  }
}
