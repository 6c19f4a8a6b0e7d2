import type { Json } from '../../domain/kernel/canonical-json.ts'

/** The columns of a table, in the order in which its rows give them. What they mean stands in docs/views.md. */
export interface RowTable {
  readonly table: string
  readonly columns: ReadonlyArray<string>
}

export type Row = ReadonlyArray<Json>
