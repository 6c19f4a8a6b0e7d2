import { either as E } from 'fp-ts'
import type { AppendOutcome, PendingAppend } from '../chain/append-queue.ts'
import type { Stage, StagedEvent } from '../chain/log-index.ts'
import { proposedEvent, sizeOnDisk, type ProposedEvent } from './recorded.ts'

/** Half of what a server takes in one append unless it is told otherwise (MaxAppendSize): releases count differently. */
const partBytesMax = 512 * 1_024

/** What one call appends. */
export interface Part {
  readonly events: ReadonlyArray<StagedEvent>
  readonly proposed: ReadonlyArray<ProposedEvent>
  /** Another part follows, and this one is nothing without it. */
  readonly goesOn: boolean
}

/** Appends that are sent together; one that is too large for a call is alone, in parts. */
export interface Parcel {
  readonly outcomes: ReadonlyArray<AppendOutcome>
  /** None where every append was refused, or empty. */
  readonly parts: ReadonlyArray<Part>
}

/** In the order of the appends. */
export const parcelsOf = (
  appends: ReadonlyArray<PendingAppend>,
  { events, outcomes }: Stage,
): ReadonlyArray<Parcel> => {
  const parcels: Parcel[] = []
  let held: Weighed[] = []
  let answers: AppendOutcome[] = []
  let bytes = 0
  const send = (): void => {
    if (answers.length > 0) parcels.push({ outcomes: answers, parts: partsOf(held) })
    held = []
    answers = []
    bytes = 0
  }
  let at = 0
  for (const [i, outcome] of outcomes.entries()) {
    const count = E.isRight(outcome) ? appends[i]!.events.length : 0
    const added = events.slice(at, at + count).map(weighed)
    const more = added.reduce((sum, { size }) => sum + size, 0)
    if (bytes + more > partBytesMax) send()
    held = held.concat(added)
    answers.push(outcome)
    bytes += more
    at += count
  }
  send()
  return parcels
}

interface Weighed {
  readonly event: StagedEvent
  readonly proposed: ProposedEvent
  readonly size: number
}

const weighed = (event: StagedEvent): Weighed => {
  const proposed = proposedEvent(event)
  return { event, proposed, size: sizeOnDisk(proposed) }
}

const partsOf = (held: ReadonlyArray<Weighed>): ReadonlyArray<Part> => {
  const parts: Weighed[][] = []
  let bytes = Infinity
  for (const each of held) {
    if (bytes + each.size > partBytesMax) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(each)
    bytes += each.size
  }
  return parts.map((part, i) => {
    const goesOn = i < parts.length - 1
    return {
      events: part.map(({ event }) => event),
      proposed: part.map(({ proposed }) => (goesOn ? { ...proposed, metadata: { goesOn } } : proposed)),
      goesOn,
    }
  })
}
