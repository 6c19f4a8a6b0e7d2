import type { SourcedFact } from '../planner/cloud-event.ts'

/**
 * What an adapter remembers of the commands that it has concluded, so that one which comes again, however late, is answered as
 * before and not done again.
 */
export interface ConcludedCommands {
  /** What was told of a command, by its key; null: it is not concluded, or so long ago that it is forgotten. */
  readonly find: (key: string) => SourcedFact | null
  /** Resolves when it is kept. */
  readonly keep: (key: string, told: SourcedFact) => Promise<void>
}
