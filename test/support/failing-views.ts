import { either as E } from 'fp-ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import { tables } from '../../infra/clickhouse/schema/tables.ts'
import type { CountedViews } from '../../services/project/rebuild.ts'
import { FinalRows } from '../projections/rows/final-rows.ts'

/** Where a write ends: after so many tables, after all of them and the position, or after that as well: the answer is lost. */
export type Cut = number | 'position' | 'answer'

const fault: ViewsUnavailable = { type: 'ViewsUnavailable', kind: 'unreachable', reason: 'cut', mend: 'try again' }

/** Views in memory, as FINAL reads them. Their next writes are cut where they are told to be, each once. */
export class FailingViews implements CountedViews {
  held = new FinalRows()
  position = -1
  readonly cuts: Cut[] = []
  /** Called at the beginning of a write that is to be cut. */
  cutting: () => void = () => undefined

  readonly projected: CountedViews['projected'] = () => () => Promise.resolve(E.right(this.position))

  readonly write: CountedViews['write'] = (upTo, batch) => async () => {
    await Promise.resolve()
    const cut = this.cuts.shift()
    if (cut !== undefined) this.cutting()
    this.held.add(typeof cut === 'number' ? batch.slice(0, cut) : batch)
    if (cut === undefined || cut === 'answer') this.position = Math.max(this.position, upTo)
    return cut === undefined ? E.right(undefined) : E.left(fault)
  }

  readonly reset: CountedViews['reset'] = () => () => {
    this.held = new FinalRows()
    this.position = -1
    return Promise.resolve(E.right(undefined))
  }

  /** Answers the one question that the projection has: which log it is of. */
  readonly query: CountedViews['query'] = () => () => {
    const rows = this.held.rows('cell_rows').map((row) => [row[0]!, row[3]!, row[7]!, row[8]!])
    return Promise.resolve(E.right({ columns: [], rows }))
  }

  readonly contents: CountedViews['contents'] = () => () => {
    const contents = tables.map(({ table }) => {
      const rows = this.held.rows(table).map((row) => JSON.stringify(row))
      return { table, rows: rows.length, hash: rows.sort().join('\n') }
    })
    return Promise.resolve(E.right(contents))
  }

  readonly close = (): Promise<void> => Promise.resolve()
}
