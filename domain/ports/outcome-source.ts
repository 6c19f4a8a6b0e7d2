import type { either as E } from 'fp-ts'
import type { BusDelivery } from './bus-delivery.ts'

/** Where a cell gets what its adapters tell: at least once, and in the order in which each told it. */
export interface OutcomeSource {
  /**
   * @param take gets facts as they travel, one CloudEvent in a line, several at once where several are there. After a `Left`
   *             the same ones are given again.
   */
  readonly subscribe: (
    cell: string,
    take: (lines: ReadonlyArray<string>) => Promise<E.Either<unknown, unknown>>,
  ) => BusDelivery
}
