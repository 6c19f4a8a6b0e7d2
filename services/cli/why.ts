import { either as E } from 'fp-ts'
import { whyText } from '../../projections/explain/why-text.ts'
import type { WorkloadState } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
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
          withDesk(drawn, { at }, async (desk) => {
            const asked = await desk.why(id, at)()
            if (E.isLeft(asked) && asked.left.type === 'NotFound') {
              // What has ended waits no longer, and how it ended is the answer: of a past that it had by then.
              const end = await desk.state(id)()
              if (E.isRight(end) && end.right.since <= (at ?? Infinity)) return printEnd(drawn, end.right)
            }
            const why = await fromDesk(() => Promise.resolve(asked))
            if (drawn.style.format !== 'table') await drawn.printObject(why as unknown as JsonObject)
            else await drawn.write(whyText(why).split('\n').map(terminalSafe).join('\n'))
            return exitCodes.done
          }),
        )
      }),
    )
}

const printEnd = async (session: Session, end: WorkloadState) => {
  if (session.style.format === 'table') await session.say(`${end.workload} ${end.text}.`)
  else await session.printObject(end as unknown as JsonObject)
  return exitCodes.done
}
