import { either as E } from 'fp-ts'
import { describeFault, type Fault } from '../../domain/kernel/fault.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { AppendFault, EventLog, LogUnavailable, NewEvent } from '../../domain/ports/event-log.ts'
import { deadLetterPrefix } from '../../domain/ports/event-log.ts'
import { streamSize } from '../../infra/chain/chain-head.ts'
import type { LineExcerpt } from './fact-lines.ts'

export const deadLetterStream = `${deadLetterPrefix}ingest`

/** A message that nothing could be made of, and why. */
export interface DeadLetter {
  readonly faults: ReadonlyArray<Fault>
  readonly excerpt: LineExcerpt
  /** All of it, so that it can be taken once more; null: it is too long, or no text. */
  readonly body: string | null
}

/** The same bytes again are the same message again. */
export const deadLetterId = ({ excerpt }: DeadLetter): string => `sha256:${excerpt.sha256}`

export const reasonOf = ({ faults }: DeadLetter): string =>
  faults
    .map((fault) => describeFault(fault))
    .join('; ')
    .slice(0, reasonCharsMax)

const reasonCharsMax = 500

/** A longer message is kept by its beginning alone. */
export const bodyBytesMax = 65_536
/** What waits for a flush is flushed when it comes to so much. */
const waitingBytesMax = 4_194_304
const waitingLettersMax = 1_000

/**
 * Records what cannot be decoded, in a stream beside those of the cells, and what became of it. Requests share it: each
 * flush holds all that was added before it. What a fault of the log kept from being recorded stays for the next flush.
 */
export class DeadLetters {
  private readonly log: EventLog
  private readonly writer: { readonly source: string; readonly actor: string }
  private size: number
  private pending: NewEvent[] = []
  private pendingBytes = 0
  private readonly ids = new Set<string>()
  private flushed: Promise<unknown> = Promise.resolve()

  private constructor(log: EventLog, writer: DeadLetters['writer'], size: number) {
    this.log = log
    this.writer = writer
    this.size = size
  }

  static async open(log: EventLog, writer: DeadLetters['writer']): Promise<E.Either<LogUnavailable, DeadLetters>> {
    const size = await streamSize(log, deadLetterStream)()
    return E.isLeft(size) ? size : E.right(new DeadLetters(log, writer, size.right))
  }

  get isFull(): boolean {
    return this.pending.length >= waitingLettersMax || this.pendingBytes >= waitingBytesMax
  }

  add(letter: DeadLetter, now: EpochMs): void {
    const { bytes, head } = letter.excerpt
    // Members in canonical order.
    const faults = letter.faults.map(({ line = null, column = null, mend, path, reason }) => ({
      ...(column !== null && { column }),
      ...(line !== null && { line }),
      mend,
      path,
      reason,
    }))
    const data = { body: letter.body, bytes, faults, head, reason: reasonOf(letter) }
    this.keep(deadLetterId(letter), { type: 'MessageUndecodable', at: now, data }, this.writer.actor)
    this.pendingBytes += letter.body === null ? head.length : bytes
  }

  /** What became of a letter, and by whose word; the same again is the same. */
  close(letter: string, became: 'DeadLetterReplayed' | 'DeadLetterDropped', now: EpochMs, actor: string): void {
    this.keep(`${letter}/${became}`, { type: became, at: now, data: { letter } }, actor)
  }

  async flush(): Promise<E.Either<AppendFault, void>> {
    const flushed = this.flushed.then(() => this.append())
    this.flushed = flushed
    return flushed
  }

  private keep(id: string, message: NewEvent['message'], actor: string): void {
    if (this.ids.has(id)) return
    this.ids.add(id)
    this.pending.push({
      id,
      message,
      version: 1,
      source: this.writer.source,
      actor,
      recordTime: message.at,
      causation: null,
      correlation: null,
      policy: null,
    })
  }

  private async append(): Promise<E.Either<AppendFault, void>> {
    for (let attempt = 0; ; attempt++) {
      const batch = this.pending.slice()
      if (batch.length === 0) return E.right(undefined)
      const appended = await this.log.append(deadLetterStream, this.size - 1, batch)()
      if (E.isRight(appended)) {
        this.size += batch.length
        this.drop(new Set(batch.map(({ id }) => id)))
        return E.right(undefined)
      }
      // Another request has sent the same in the meantime, or an append was recorded and broke off all the same.
      if (appended.left.type === 'LogUnavailable' || attempt > 0) return appended
      const reread = await this.reread()
      if (E.isLeft(reread)) return reread
    }
  }

  private async reread(): Promise<E.Either<LogUnavailable, void>> {
    const size = await streamSize(this.log, deadLetterStream)()
    if (E.isLeft(size)) return size
    const known = await this.log.known(
      deadLetterStream,
      this.pending.map(({ id }) => id),
    )()
    if (E.isLeft(known)) return known
    this.size = size.right
    this.drop(known.right)
    return E.right(undefined)
  }

  private drop(recorded: ReadonlySet<string>): void {
    this.pending = this.pending.filter(({ id }) => !recorded.has(id))
    for (const id of recorded) this.ids.delete(id)
    if (this.pending.length === 0) this.pendingBytes = 0
  }
}
