import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `release`. */
export const registerRelease: Register = (program, context) => {
  program
    .command('release')
    .argument('<workload>', 'its id')
    .description('let a workload that is on hold wait for its turn again')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, workload: string, { reason }: { reason?: string }) =>
        withDesk(session, { claims: 'release' }, async (desk) => {
          const ordered = await fromDesk(desk.release(workload, orderer(reason)))
          return printOrdered(session, { workload, ...ordered }, `${workload} waits for its turn again`)
        }),
      ),
    )
}

const examples = `
Examples:
  leasehold release ranking-hparam-sweep --reason "the data set is whole"`
