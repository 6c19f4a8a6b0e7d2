import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** What such a verb says of itself, and of the workload once it is recorded. */
export interface WorkloadOrderWords {
  readonly description: string
  readonly done: string
  readonly help: string
}

/** Registers a verb that orders something of one workload. */
export const registerWorkloadOrder =
  (order: 'cancel' | 'hold' | 'release', { description, done, help }: WorkloadOrderWords): Register =>
  (program, context) => {
    program
      .command(order)
      .argument('<workload>', 'its id')
      .description(description)
      .option('--reason <text>', 'why; it is recorded')
      .addHelpText('after', help)
      .action(
        verb(context, (session, workload: string, { reason }: { reason?: string }) =>
          withDesk(session, { claims: order }, async (desk) => {
            const ordered = await fromDesk(desk[order](workload, orderer(reason)))
            return printOrdered(session, { workload, ...ordered }, `${workload} ${done}`)
          }),
        ),
      )
  }
