import { whyText } from '../../projections/explain/why-text.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

/** Registers `why`. */
export const registerWhy: Register = (program, context) => {
  addWatchFlag(
    program
      .command('why')
      .argument('<workload>', 'its id')
      .description('why a workload waits, who is ahead of it and when it should start')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  leasehold why ranking-hparam-sweep\n  leasehold why ranking-hparam-sweep --watch 5\n  leasehold why training-0423 --at 69776s --data .leasehold/demo',
    )
    .action(
      verb(context, (session, id: string, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, {}, async (desk) => {
            const why = await fromDesk(desk.why(id, at))
            if (drawn.style.format !== 'table') await drawn.printObject(why as unknown as JsonObject)
            else await drawn.write(whyText(why).split('\n').map(terminalSafe).join('\n'))
            return exitCodes.done
          }),
        )
      }),
    )
}
