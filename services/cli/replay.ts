import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { verifyReplay, type ReplayVerdict } from '../replay/verify.ts'
import { counted } from './counted.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { fromLog, sizeOfCell, withLog } from './opened-log.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `replay verify`. */
export const registerReplay: Register = (program, context) => {
  const replay = program.command('replay').description('decide again what was decided')
  replay
    .command('verify')
    .description('decide every input of the log again and compare with what is stored')
    .addHelpText('after', `\nExit code ${exitCodes.unverified} with the first difference, ${exitCodes.done} without.`)
    .action(
      verb(context, async (session) =>
        withLog(session, async (log) => {
          const { cell: stream } = session.configuration
          const progress = session.progress('events', await sizeOfCell(session, log))
          const verified = await verifyReplay(log, stream, progress.at).finally(progress.stop)
          // A log that cannot be read to its end has not been verified, whatever the environment has to do with it.
          if (E.isLeft(verified) && verified.left.kind === 'damaged')
            throw new VerbFailed(exitCodes.unverified, `${verified.left.reason}; ${verified.left.mend}`)
          const verdict = fromLog(verified)
          if (session.style.format === 'table') await session.write(verdictText(verdict))
          else await session.printObject(verdict as unknown as JsonObject)
          return verdict.ok ? exitCodes.done : exitCodes.unverified
        }),
      ),
    )
}

const verdictText = ({ ok, stream, inputs, decisions, finding }: ReplayVerdict): string => {
  if (ok || finding === null)
    return `ok: ${counted(inputs, 'input')} of ${stream} lead to its ${counted(decisions, 'decision')}, field by field\n`
  const line = (name: string, value: Json) => `  ${name.padEnd(8)} ${terminalSafe(JSON.stringify(value))}\n`
  return (
    `event ${finding.revision} of ${stream} does not follow from what came before it: ${terminalSafe(finding.reason)}\n` +
    line('stored', finding.stored) +
    line('decided', finding.decided)
  )
}
