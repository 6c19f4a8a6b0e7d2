import type { taskEither as TE } from 'fp-ts'
import type { SourcedFact } from '../planner/cloud-event.ts'
import type { BusUnavailable } from './bus-unavailable.ts'

/** Where an adapter tells a cell what became of commands and attempts. The same id again is the same fact again. */
export interface OutcomeSink {
  /** Resolves when all of them are kept for the cell. On `Left` some may be: tell them again. */
  readonly tell: (
    cell: string,
    adapter: string,
    facts: ReadonlyArray<SourcedFact>,
  ) => TE.TaskEither<BusUnavailable, void>
}
