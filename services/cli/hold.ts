import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `hold`. */
export const registerHold: Register = (program, context) => {
  program
    .command('hold')
    .argument('<workload>', 'its id')
    .description('let a workload wait, whatever is free, until it is released')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, workload: string, { reason }: { reason?: string }) =>
        withDesk(session, { claims: 'hold' }, async (desk) => {
          const ordered = await fromDesk(desk.hold(workload, orderer(reason)))
          return printOrdered(session, { workload, ...ordered }, `${workload} is on hold`)
        }),
      ),
    )
}

const examples = `
What runs goes on; it waits when it is stopped.
Examples:
  leasehold hold ranking-hparam-sweep --reason "the data set is being mended"`
