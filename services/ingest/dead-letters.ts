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
}

/** The same bytes again are the same message again. */
export const deadLetterId = ({ excerpt }: DeadLetter): string => `sha256:${excerpt.sha256}`

export const reasonOf = ({ faults }: DeadLetter): string =>
  faults
    .map((fault) => describeFault(fault))
    .join('; ')
    .slice(0, reasonCharsMax)

const reasonCharsMax = 500

/** Records what cannot be decoded, in a stream beside those of the cells. */
export class DeadLetters {
  private readonly log: EventLog
  private readonly writer: { readonly source: string; readonly actor: string }
  private size: number
  private pending: NewEvent[] = []

  private constructor(log: EventLog, writer: DeadLetters['writer'], size: number) {
    this.log = log
    this.writer = writer
    this.size = size
  }

  static async open(log: EventLog, writer: DeadLetters['writer']): Promise<E.Either<LogUnavailable, DeadLetters>> {
    const size = await streamSize(log, deadLetterStream)()
    return E.isLeft(size) ? size : E.right(new DeadLetters(log, writer, size.right))
  }

  get waiting(): number {
    return this.pending.length
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
    this.pending.push({
      id: deadLetterId(letter),
      message: { type: 'MessageUndecodable', at: now, data: { bytes, faults, head, reason: reasonOf(letter) } },
      version: 1,
      ...this.writer,
      recordTime: now,
      causation: null,
      correlation: null,
      policy: null,
    })
  }

  async flush(): Promise<E.Either<AppendFault, void>> {
    const { pending, size } = this
    if (pending.length === 0) return E.right(undefined)
    const appended = await this.log.append(deadLetterStream, size - 1, pending)()
    if (E.isLeft(appended)) return appended
    this.size += pending.length
    this.pending = []
    return E.right(undefined)
  }
}
