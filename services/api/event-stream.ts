import { either as E } from 'fp-ts'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { EventRow } from './desk.ts'
import { rowOf } from './event-rows.ts'
import type { Follower } from './follower.ts'

const pageMax = 500
/** How long a stream says nothing at most, so that both ends know that the other is there. */
export const heartbeatMs = 15_000

/**
 * Decisions from a position on, first those that are there and then what comes; an empty list at least at every
 * heartbeat. No more is read than is taken. Ends with the signal, or when the log cannot be read.
 */
export async function* decisionsFrom(
  log: EventLog,
  follower: Follower,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<ReadonlyArray<EventRow>> {
  const { name } = follower.cell
  for (let position = from; !signal.aborted && follower.fault === null;) {
    const page = await log.readAll(position, pageMax)()
    if (E.isLeft(page)) return
    const last = page.right.at(-1)
    if (last === undefined) {
      await follower.reachedOr(position, heartbeatMs, signal)
      yield []
      continue
    }
    position = last.position + 1
    const rows = page.right.filter(
      ({ message, stream }) => stream === name && !isInput(message as unknown as CellEvent),
    )
    if (rows.length > 0) yield rows.map(rowOf)
    else await new Promise(setImmediate)
  }
}
