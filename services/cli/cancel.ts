import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `cancel`. */
export const registerCancel: Register = (program, context) => {
  program
    .command('cancel')
    .argument('<workload>', 'its id')
    .description('end a workload, whether it waits or runs')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, workload: string, { reason }: { reason?: string }) =>
        withDesk(session, { claims: 'cancel' }, async (desk) => {
          const ordered = await fromDesk(desk.cancel(workload, orderer(reason)))
          return printOrdered(session, { workload, ...ordered }, `${workload} is to end`)
        }),
      ),
    )
}

const examples = `
Examples:
  leasehold cancel ranking-hparam-sweep --reason "superseded by sweep 8"`
