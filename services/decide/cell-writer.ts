import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import { decisionEnvelope, inputEnvelope, lookId, type CellEnvelope } from '../../domain/planner/cell-envelope.ts'
import {
  cellEventVersions,
  type CellDecision,
  type CellEvent,
  type CellInput,
} from '../../domain/planner/cell-event.ts'
import { decide, type CellRejection } from '../../domain/planner/decide.ts'
import type { AppendFault, EventLog, LogUnavailable, NewEvent } from '../../domain/ports/event-log.ts'
import { foldCell, type Folded } from './fold.ts'

/** Who records, and by which clock. */
export interface Recording {
  readonly stream: string
  readonly source: string
  readonly actor: string
  /** Record time of an event that happened then; a simulation records at the instant itself. */
  readonly recordTime: (eventTime: EpochMs) => EpochMs
}

/** Where an input comes from, and whose word it is; absent: the writer's own. */
export interface Origin {
  readonly source?: string
  readonly actor?: string
  readonly reason?: string | null
}

/** Events that one append takes at most, unless one input alone is decided into more. */
export const recordBatchMax = 1_000

/**
 * The one writer of a cell: it decides about inputs in memory and records them, each with its decisions behind it, in
 * batches. What `flush` has not acknowledged is not yet known to anybody; after a fault the cell in memory is ahead of
 * the log, and only a writer that opens the stream anew may go on.
 */
export class CellWriter {
  readonly cell: Cell
  private readonly log: EventLog
  private readonly recording: Recording
  /** Of the first pending event: what lies before it is recorded. */
  private revision: number
  private pending: NewEvent[] = []
  /** The last instant that a tick which decided nothing was for. */
  private lookedAt = 0 as EpochMs
  private readonly kept: (stream: string, message: NewEvent['message']) => void

  /**
   * @param folded the cell as its stream tells it so far
   * @param kept   told of each event in order, before it is recorded
   */
  constructor(
    log: EventLog,
    recording: Recording,
    { cell, size }: Folded,
    kept: (stream: string, message: NewEvent['message']) => void = () => undefined,
  ) {
    this.log = log
    this.recording = recording
    this.cell = cell
    this.revision = size
    this.kept = kept
  }

  /** Takes up a stream where it ends; one that is not there yet begins. */
  static async open(log: EventLog, recording: Recording): Promise<E.Either<LogUnavailable, CellWriter>> {
    const folded = await foldCell(log, recording.stream)
    return E.isLeft(folded) ? folded : E.right(new CellWriter(log, recording, folded.right))
  }

  get isFull(): boolean {
    return this.pending.length >= recordBatchMax
  }

  /** Taken and not recorded yet, from this revision of the stream on. */
  get waiting(): { readonly from: number; readonly events: ReadonlyArray<NewEvent> } {
    return { from: this.revision, events: this.pending }
  }

  /** Decides about an input and keeps it for the next flush. A tick that decides nothing is not kept. */
  take(input: CellInput, id: string, origin: Origin = {}): E.Either<CellRejection, ReadonlyArray<CellDecision>> {
    const { cell } = this
    const decided = decide(input, cell)
    if (E.isLeft(decided)) return decided
    const decisions = decided.right
    if (input.type === 'Ticked' && decisions.length === 0) {
      cell.lookedInVain()
      this.lookedAt = Math.max(this.lookedAt, input.at) as EpochMs
      return decided
    }
    this.keepLook(input.at, id)
    this.keep(input, inputEnvelope(id, cell), origin)
    evolve(cell, input)
    decisions.forEach((decision, i) => {
      this.keep(decision, decisionEnvelope(id, i, cell))
      evolve(cell, decision)
    })
    return decided
  }

  /** The log holds so many of what waits already. */
  skip(count: number): void {
    this.revision += count
    this.pending = this.pending.slice(count)
  }

  /** Resolves when all that was taken is durable. */
  async flush(): Promise<E.Either<AppendFault, void>> {
    const { log, recording, revision } = this
    // What is taken meanwhile stays for the next flush.
    const batch = this.pending.slice()
    if (batch.length === 0) return E.right(undefined)
    const appended = await log.append(recording.stream, revision - 1, batch)()
    if (E.isLeft(appended)) return appended
    this.skip(batch.length)
    return E.right(undefined)
  }

  /**
   * Books have been brought to an instant that no event tells of. What happened before it, and is told only now, has to
   * find them there again when the log is folded.
   */
  private keepLook(at: EpochMs, id: string): void {
    const { cell, lookedAt } = this
    if (cell.books === null || at >= lookedAt || lookedAt <= cell.now) return
    const look: CellInput = { type: 'Ticked', at: lookedAt, data: {} }
    this.keep(look, inputEnvelope(lookId(id), cell))
    evolve(cell, look)
  }

  private keep(event: CellEvent, envelope: CellEnvelope, origin: Origin = {}): void {
    const { stream, source, actor, recordTime } = this.recording
    const message = event as unknown as NewEvent['message']
    this.kept(stream, message)
    this.pending.push({
      id: envelope.id,
      message,
      version: cellEventVersions[event.type],
      source: origin.source ?? source,
      actor: origin.actor ?? actor,
      recordTime: recordTime(event.at),
      causation: envelope.causation,
      correlation: null,
      policy: envelope.policy,
      ...((origin.reason ?? null) === null ? {} : { reason: origin.reason! }),
    })
  }
}
