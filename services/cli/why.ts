import { whyOf } from '../../projections/explain/why.ts'
import { whyText } from '../../projections/explain/why-text.ts'
import { foldedCell } from './folded-cell.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { withLog } from './opened-log.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { fateOf } from './workload-events.ts'

/** Registers `why`. */
export const registerWhy: Register = (program, context) => {
  program
    .command('why')
    .argument('<workload>', 'its id')
    .description('why a workload waits, who is ahead of it and when it should start')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .action(
      verb(context, async (session, id: string, { at }: { at?: string }) =>
        withLog(session, async (log) => {
          const { cell } = await foldedCell(session, log, at)
          const why = whyOf(cell, id)
          if (why === null) throw new VerbFailed(exitCodes.failed, await fateOf(session, log, id))
          if (session.style.format !== 'table') await session.printObject(why as unknown as JsonObject)
          else await session.write(whyText(why).split('\n').map(terminalSafe).join('\n'))
          return exitCodes.done
        }),
      ),
    )
}
