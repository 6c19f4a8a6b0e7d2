import { either as E } from 'fp-ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { isIntact, leafOf, parseLine } from './stored-event.ts'

/** The event of a line if it is the one that comes next, or what is wrong with it. */
export const nextEvent = (
  line: string,
  position: number,
  headOf: (stream: string) => { readonly revision: number; readonly hash: string },
): E.Either<string, StoredEvent> => {
  if (!isIntact(line, leafOf(line))) return E.left('its hash is not the hash of its content')
  const event = parseLine(line)
  if (event.position !== position) return E.left(`the event of position ${event.position} is in its place`)
  const head = headOf(event.stream)
  if (event.revision !== head.revision + 1 || event.previousHash !== head.hash)
    return E.left(`it does not follow from revision ${head.revision} of ${event.stream}`)
  return E.right(event)
}
