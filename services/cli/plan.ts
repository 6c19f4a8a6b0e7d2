import { either as E } from 'fp-ts'
import { readIntentsFile } from '../../infra/yaml/intents.ts'
import { isTurnedDown, planLines } from '../../projections/explain/plan.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import type { JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { fileFailed } from './trace-options.ts'

/** Registers `plan`. */
export const registerPlan: Register = (program, context) => {
  program
    .command('plan')
    .argument('<file>', 'WorkloadIntent documents, YAML or JSON; - for the standard input')
    .description('where and when a workload would run if it were submitted now; nothing is changed')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .addHelpText(
      'after',
      `\nExit code ${exitCodes.refused} if the fleet could never run one of them.\n\nExamples:\n  leasehold plan docs/examples/intent.yaml`,
    )
    .action(
      verb(context, async (session, file: string, flags: { at?: string }) => {
        const at = instantFrom(flags.at)
        const read = await readIntentsFile(file)()
        if (E.isLeft(read)) throw fileFailed(read.left)
        return withDesk(session, {}, async (desk) => {
          const plans = await fromDesk(desk.plan(read.right, at))
          if (plans.length > 1) session.note('Each is planned as if the others were not there.')
          if (session.style.format === 'table') for (const line of plans.flatMap(planLines)) await session.say(line)
          else
            await session.printRows<JsonObject>(
              plans as unknown as ReadonlyArray<JsonObject>,
              ['workload', 'outcome', 'startAt'].map((name) => ({ name, value: (row) => row[name] ?? null })),
            )
          return plans.some(isTurnedDown) ? exitCodes.refused : exitCodes.done
        })
      }),
    )
}
