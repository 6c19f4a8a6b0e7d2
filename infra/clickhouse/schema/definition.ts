/** A column and what it means: the same words stand in docs/views.md and in the database. */
export type Column = readonly [name: string, type: string, comment: string]

export interface TableDefinition {
  readonly table: string
  readonly comment: string
  readonly columns: ReadonlyArray<Column>
  /** What makes a row unique; of rows that agree in it, that of the highest version counts. */
  readonly key: string
}

export interface ViewDefinition {
  readonly view: string
  readonly comment: string
  readonly columns: ReadonlyArray<Column>
  readonly select: string
}

/** Whatever was there under its name is gone, and with it its rows. */
export const tableStatement = ({ table, comment, columns, key }: TableDefinition): string =>
  `CREATE OR REPLACE TABLE ${table} (\n${columnList(columns)}\n) ENGINE = ReplacingMergeTree(version) ORDER BY ${key} COMMENT ${quoted(comment)}`

export const viewStatement = ({ view, comment, columns, select }: ViewDefinition): string =>
  `CREATE OR REPLACE VIEW ${view} (\n${columnList(columns)}\n) AS ${select} COMMENT ${quoted(comment)}`

const columnList = (columns: ReadonlyArray<Column>): string =>
  columns.map(([name, type, comment]) => `  ${name} ${type} COMMENT ${quoted(comment)}`).join(',\n')

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
