import { exitCodes, type ExitCode } from './exit.ts'
import type { JsonObject } from './output.ts'
import type { Session } from './session.ts'
import type { Ordered } from '../api/desk.ts'

/** What became of an order: a sentence for a person, its members for a program. */
export const printOrdered = async (session: Session, ordered: Ordered & JsonObject, said: string): Promise<ExitCode> =>
  printSaid(session, ordered, `${said}${outcomeText(ordered)}`)

/** The same of a sentence that tells of the outcome itself. */
export const printSaid = async (session: Session, ordered: JsonObject, said: string): Promise<ExitCode> => {
  if (session.style.format === 'table') await session.say(said)
  else await session.printObject(ordered)
  return exitCodes.done
}

export const outcomeText = ({ outcome, position }: Ordered): string => {
  const where = position === null ? '' : `, at position ${position} of the log`
  return outcome === 'duplicate' ? ' (that was recorded before)' : `: recorded${where}`
}
