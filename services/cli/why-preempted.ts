import { whyPreemptedText } from '../../projections/explain/why-preempted-text.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `why-preempted`. */
export const registerWhyPreempted: Register = (program, context) => {
  program
    .command('why-preempted')
    .argument('<workload>', 'its id')
    .description('each time a workload made room for others: for whom, by which rule and numbers, and what came of it')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .addHelpText('after', '\nExamples:\n  leasehold why-preempted ranking-hparam-sweep')
    .action(
      verb(context, (session, id: string, flags: { at?: string }) =>
        withDesk(session, {}, async (desk) => {
          const why = await fromDesk(desk.whyPreempted(id, instantFrom(flags.at)))
          if (session.style.format !== 'table') await session.printObject(why as unknown as JsonObject)
          else await session.write(whyPreemptedText(why).split('\n').map(terminalSafe).join('\n'))
          return exitCodes.done
        }),
      ),
    )
}
