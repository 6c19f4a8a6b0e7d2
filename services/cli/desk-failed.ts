import { either as E } from 'fp-ts'
import type { Answered, DeskFault } from '../api/desk.ts'
import { exitCodes, logUnavailable, VerbFailed } from './exit.ts'

/** What the desk answered, or the failure of the verb that asked. */
export const fromDesk = async <A>(answered: Answered<A>): Promise<A> => {
  const answer = await answered()
  if (E.isLeft(answer)) throw deskFailed(answer.left)
  return answer.right
}

export const deskFailed = (fault: DeskFault): VerbFailed => {
  switch (fault.type) {
    case 'LogUnavailable':
      return logUnavailable(fault)
    case 'ViewsUnavailable':
      return new VerbFailed(exitCodes.failed, `the views cannot be asked: ${withMend(fault)}`)
    case 'QueryRefused': {
      const code = fault.kind === 'invalid' || fault.kind === 'read-only' ? exitCodes.usage : exitCodes.refused
      return new VerbFailed(code, withMend(fault))
    }
    case 'NotFound':
    case 'OwnerUnreachable':
      return new VerbFailed(exitCodes.failed, withMend(fault))
    case 'Refused':
      return new VerbFailed(exitCodes.refused, withMend(fault))
    case 'Invalid':
      return new VerbFailed(exitCodes.usage, 'what was asked is not valid', fault.faults)
  }
}

const withMend = ({ reason, mend }: { readonly reason: string; readonly mend: string }): string =>
  mend === '' ? reason : `${reason}; ${mend}`
