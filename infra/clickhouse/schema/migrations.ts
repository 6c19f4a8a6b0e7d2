import type { Migration } from '../migration.ts'
import { tableStatement, viewStatement } from './definition.ts'
import { tables } from './tables.ts'
import { views } from './views.ts'

/** How far the log is in the views. The position is its own version: what is written late or twice changes nothing. */
const projection: Migration = {
  name: '0001-projection',
  statements: [
    `CREATE TABLE IF NOT EXISTS projection (
       name String COMMENT 'Which projection: always views',
       position Int64 COMMENT 'Last position of the log whose rows are in'
     ) ENGINE = ReplacingMergeTree(position) ORDER BY name`,
  ],
}

/** What people query, and the rows that it is made of. */
const rows: Migration = {
  name: '0002-rows',
  statements: [...tables.map(tableStatement), ...views.map(viewStatement)],
}

/** In the order in which they are applied. */
export const migrations: ReadonlyArray<Migration> = [projection, rows]
