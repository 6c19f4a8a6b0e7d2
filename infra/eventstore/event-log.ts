import { either as E, type taskEither as TE } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { closedFault } from '../chain/append-queue.ts'
import type { AuditedLog } from '../chain/audited-log.ts'
import { indexedLog } from '../chain/indexed-log.ts'
import { growth } from '../chain/subscription.ts'
import { faultOf } from './fault.ts'
import { KeptStream } from './kept-stream.ts'
import { Link } from './link.ts'
import { describePlace, type EventStorePlace } from './place.ts'
import { Writer } from './writer.ts'

export interface EventStoreOptions {
  readonly readOnly?: boolean
  /** Whoever reads waits for the first event; absent: that there is none is a fault. */
  readonly awaited?: boolean
}

/** Events of other streams that are read along: a call costs as much as some hundred of them. */
const gapEventsMax = 200

/** The log in one stream of an EventStoreDB. Memory grows with the number of events by the ids, some 150 bytes each. */
export const eventStoreLog =
  (
    place: EventStorePlace,
    { awaited = false, readOnly = false }: EventStoreOptions = {},
  ): TE.TaskEither<LogUnavailable, AuditedLog> =>
  async () => {
    const grown = growth()
    const link = new Link(place)
    const kept = new KeptStream(link, grown.announce)
    const told = faultOf(describePlace(place))
    const toFault = (cause: unknown): LogUnavailable => (link.closed ? closedFault : told(cause))
    try {
      await kept.catchUp()
    } catch (cause) {
      await kept.close()
      return E.left(told(cause))
    }
    if (readOnly && !awaited && kept.soFar.lastRevision < 0) {
      await kept.close()
      return E.left(absentFault(place))
    }
    kept.follow()
    const writer = new Writer(kept, toFault)
    const log = indexedLog(
      kept.soFar.index,
      {
        read: (from, count) => kept.lines(from, count),
        gapMax: gapEventsMax,
        refresh: () => {
          if (kept.damaged !== null) throw kept.damaged
          if (writer.isUnsure) return writer.settle()
        },
        flush: readOnly ? refuseAll(place) : writer.flush,
        close: () => kept.close(),
        toFault,
        patient: (readAll) => patient(readAll, link),
      },
      grown,
    )
    return E.right(log)
  }

/** For those who follow the log: while the server cannot be reached there is nothing new, and no end. */
const patient = (readAll: AuditedLog['readAll'], link: Link): AuditedLog['readAll'] => {
  const backOff = link.backOff()
  return (from, limit) => async () => {
    const read = await readAll(from, limit)()
    if (E.isRight(read)) backOff.reset()
    if (E.isRight(read) || read.left.kind !== 'input-output') return read
    await backOff.rest()
    return E.right([])
  }
}

const absentFault = (place: EventStorePlace): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'absent',
  reason: `${describePlace(place)}: there is no log`,
  mend: 'name the stream of one, or write one first',
})

const refuseAll = (place: EventStorePlace) => (batch: ReadonlyArray<unknown>) =>
  batch.map(() =>
    E.left<LogUnavailable>({
      type: 'LogUnavailable',
      kind: 'read-only',
      reason: `${describePlace(place)}: it was opened for reading only`,
      mend: 'open it for writing',
    }),
  )
