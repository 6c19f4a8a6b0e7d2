import { either as E } from 'fp-ts'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { PreemptionStory, type WhyPreempted } from '../../projections/explain/why-preempted.ts'
import type { EventLog, LogUnavailable, StoredEvent } from '../../domain/ports/event-log.ts'
import type { DecisionFilter, EventRow } from './desk.ts'

const pageMax = 2_000

export const rowOf = ({ position, id, causation, policy, message }: StoredEvent): EventRow => ({
  position,
  id,
  at: message.at,
  type: message.type,
  causation,
  policy,
  data: message.data,
})

/** Every event of one workload, in order. */
export const lifeOf = async (
  log: EventLog,
  stream: string,
  workload: string,
): Promise<E.Either<LogUnavailable, ReadonlyArray<StoredEvent>>> => {
  const events: StoredEvent[] = []
  for (let from = 0; ; from += pageMax) {
    const page = await log.readStream(stream, from, pageMax)()
    if (E.isLeft(page)) return page
    for (const event of page.right) if (event.message.data['workload'] === workload) events.push(event)
    if (page.right.length < pageMax) return E.right(events)
    // Others have their turn between two pages.
    await new Promise(setImmediate)
  }
}

/** The newest decisions that pass the filter, in order; the log is read from its end. */
export const decisionsIn = async (
  log: EventLog,
  stream: string,
  size: number,
  { at, limit, type, workload }: DecisionFilter,
): Promise<E.Either<LogUnavailable, ReadonlyArray<EventRow>>> => {
  const newestFirst: EventRow[] = []
  const wanted = limit === 0 ? Infinity : limit
  for (let end = size; end > 0 && newestFirst.length < wanted; end -= pageMax) {
    const from = Math.max(0, end - pageMax)
    const page = await log.readStream(stream, from, end - from)()
    if (E.isLeft(page)) return page
    for (const event of page.right.toReversed()) {
      const { message } = event
      if (isInput(message as unknown as CellEvent) || (at !== null && message.at > at)) continue
      if ((type !== null && message.type !== type) || (workload !== null && message.data['workload'] !== workload))
        continue
      newestFirst.push(rowOf(event))
      if (newestFirst.length === wanted) break
    }
    await new Promise(setImmediate)
  }
  return E.right(newestFirst.reverse())
}

/** Each time the workload made room for others, as the log tells it up to an instant. */
export const preemptionsOf = async (
  log: EventLog,
  stream: string,
  workload: string,
  until: EpochMs,
): Promise<E.Either<LogUnavailable, WhyPreempted>> => {
  const story = new PreemptionStory(workload)
  for (let from = 0; ; from += pageMax) {
    const page = await log.readStream(stream, from, pageMax)()
    if (E.isLeft(page)) return page
    for (const { id, message, policy } of page.right)
      if (message.at <= until) story.hear(message as unknown as CellEvent, { id, policy })
    if (page.right.length < pageMax) return E.right(story.answer(until))
    await new Promise(setImmediate)
  }
}
