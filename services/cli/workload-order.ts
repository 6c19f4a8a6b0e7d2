import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import type { HoldOrdered, Ordered } from '../api/desk.ts'
import { printSaid } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** What such a verb says of itself, and of what became of the order. */
export interface WorkloadOrderWords<O extends Ordered> {
  readonly description: string
  readonly said: (workload: string, ordered: O) => string
  readonly help: string
}

interface WorkloadOrders {
  readonly cancel: Ordered
  readonly hold: HoldOrdered
  readonly release: HoldOrdered
}

/** Registers a verb that orders something of one workload. */
export const registerWorkloadOrder =
  <N extends keyof WorkloadOrders>(
    order: N,
    { description, help, said }: WorkloadOrderWords<WorkloadOrders[N]>,
  ): Register =>
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
            const ordered = await fromDesk<Ordered>(desk[order](workload, orderer(reason)))
            return printSaid(session, { workload, ...ordered }, said(workload, ordered as WorkloadOrders[N]))
          }),
        ),
      )
  }
