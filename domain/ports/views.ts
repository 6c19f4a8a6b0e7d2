import type { taskEither as TE } from 'fp-ts'
import type { Json } from '../kernel/canonical-json.ts'

export type ViewsUnavailable = {
  readonly type: 'ViewsUnavailable'
  /** chDB is not installed, does not start, another process holds its folder; the disk is full; no answer; damaged ... */
  readonly kind: 'not-installed' | 'not-started' | 'locked' | 'full' | 'unreachable' | 'refused' | 'newer-schema'
  readonly reason: string
  readonly mend: string
}
/** The query is at fault, or too much for its limits: nothing is wrong with the views. */
export type QueryRefused = {
  readonly type: 'QueryRefused'
  readonly kind: 'invalid' | 'read-only' | 'too-long' | 'too-many-rows' | 'too-much-memory'
  readonly reason: string
  readonly mend: string
}

/** Rows of one table: values in the order of `columns`. */
export interface TableRows {
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Json>>
}

export interface QueryLimits {
  readonly timeMaxMs: number
  readonly rowsMax: number
}

export interface QueryResult {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  /** 64-bit integers as text where they exceed 2^53. */
  readonly rows: ReadonlyArray<ReadonlyArray<Json>>
}

/** A table before and after the views were built anew. Hashes are empty where there was no such table. */
export interface RebuiltTable {
  readonly table: string
  readonly rowsBefore: number
  readonly hashBefore: string
  readonly rowsAfter: number
  readonly hashAfter: string
}

/** What people query. It can be dropped and built again from the log; that changes nothing. */
export interface Views {
  /** Last position of the log whose rows are in; -1 for none. */
  readonly projected: () => TE.TaskEither<ViewsUnavailable, number>
  /** Adds the rows of everything up to this position, and that it has come so far. Repeated, it adds nothing. */
  readonly write: (upTo: number, tables: ReadonlyArray<TableRows>) => TE.TaskEither<ViewsUnavailable, void>
  /** Reads only. `parameters` are bound as `{name: Type}`, never put into the text. */
  readonly query: (
    sql: string,
    limits: QueryLimits,
    parameters?: Readonly<Record<string, Json>>,
  ) => TE.TaskEither<ViewsUnavailable | QueryRefused, QueryResult>
  /** Drops every table and view and makes them anew, empty. */
  readonly reset: () => TE.TaskEither<ViewsUnavailable, void>
  readonly close: () => Promise<void>
}
