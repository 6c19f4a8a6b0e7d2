import type { Command, CommandOutcome } from '../planner/command.ts'
import type { BusDelivery } from './bus-delivery.ts'

/** What an adapter says became of a command. That nobody acted on it in time is not the adapter's to say. */
export interface CommandHandled {
  readonly outcome: Exclude<CommandOutcome, 'expired'>
  readonly reason: string | null
}

/**
 * Where an adapter gets its commands. Each is delivered until it has been concluded, also to the next process of the adapter;
 * what is concluded is told to the cell, and is not handled again when it comes again. Commands about one workload are
 * handled one after the other, others beside each other.
 */
export interface CommandSource {
  /**
   * @param handle does it, however long that takes. Where it rejects, the command is delivered again after a while, and goes
   *               to the dead letters with the reason after so many deliveries.
   */
  readonly subscribe: (
    cell: string,
    adapter: string,
    handle: (command: Command) => Promise<CommandHandled>,
  ) => BusDelivery
}
