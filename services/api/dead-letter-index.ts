import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { deadLetterPrefix, type EventLog, type LogUnavailable, type StoredEvent } from '../../domain/ports/event-log.ts'
import type { DeadLetterDetail, DeadLetterRow } from './desk.ts'

export const deadLetterStream = `${deadLetterPrefix}ingest`

const pageMax = 500
/** Of more than these the newest are listed. */
const listedMax = 10_000

type State = DeadLetterRow['state']
interface Known {
  readonly revision: number
  state: State
}

/** Where each dead letter stands, folded from their stream; what they say is read when somebody asks. */
export class DeadLetterIndex {
  private readonly known = new Map<string, Known>()
  private size = 0
  /** Those that nobody has replayed or dropped. */
  waiting = 0

  follow({ id, message, revision }: StoredEvent): void {
    if (revision < this.size) return
    this.size = revision + 1
    const { data, type } = message
    if (type === 'MessageUndecodable') {
      if (this.known.has(id)) return
      this.known.set(id, { revision, state: typeof data['body'] === 'string' ? 'waiting' : 'cut' })
      this.waiting++
      return
    }
    const letter = this.known.get(typeof data['letter'] === 'string' ? data['letter'] : '')
    if (letter === undefined) return
    if (isOpen(letter.state)) this.waiting--
    letter.state = type === 'DeadLetterReplayed' ? 'replayed' : 'dropped'
  }

  /** Reads what the stream holds beyond what has been followed. */
  async catchUp(log: EventLog): Promise<E.Either<LogUnavailable, void>> {
    for (;;) {
      const page = await log.readStream(deadLetterStream, this.size, pageMax)()
      if (E.isLeft(page)) return page
      for (const event of page.right) this.follow(event)
      if (page.right.length < pageMax) return E.right(undefined)
      await new Promise(setImmediate)
    }
  }

  stateOf(id: string): State | null {
    return this.known.get(id)?.state ?? null
  }

  async list(log: EventLog): Promise<E.Either<LogUnavailable, ReadonlyArray<DeadLetterRow>>> {
    const rows: DeadLetterRow[] = []
    const wanted = [...this.known.values()].slice(-listedMax)
    let from = wanted[0]?.revision ?? this.size
    while (from < this.size) {
      const page = await log.readStream(deadLetterStream, from, pageMax)()
      if (E.isLeft(page)) return page
      for (const event of page.right)
        if (this.known.get(event.id)?.revision === event.revision) rows.push(this.rowOf(event))
      from += pageMax
      await new Promise(setImmediate)
    }
    return E.right(rows)
  }

  /** Null: there is none of this id. */
  async detail(log: EventLog, id: string): Promise<E.Either<LogUnavailable, DeadLetterDetail | null>> {
    const known = this.known.get(id)
    if (known === undefined) return E.right(null)
    const read = await log.readStream(deadLetterStream, known.revision, 1)()
    if (E.isLeft(read)) return read
    const [event] = read.right
    if (event === undefined) return E.right(null)
    const { body, faults } = event.message.data
    return E.right({
      ...this.rowOf(event),
      faults: Array.isArray(faults) ? (faults as unknown as ReadonlyArray<Fault>) : [],
      body: typeof body === 'string' ? body : null,
    })
  }

  private rowOf({ id, message: { at, data } }: StoredEvent): DeadLetterRow {
    const { bytes, head, reason } = data
    return {
      id,
      at,
      bytes: typeof bytes === 'number' ? bytes : 0,
      reason: typeof reason === 'string' ? reason : '',
      state: this.known.get(id)?.state ?? 'cut',
      head: typeof head === 'string' ? head : '',
    }
  }
}

export const isOpen = (state: State): boolean => state === 'waiting' || state === 'cut'
