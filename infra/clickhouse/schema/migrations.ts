import type { Migration } from '../migration.ts'

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

/** In the order in which they are applied. */
export const migrations: ReadonlyArray<Migration> = [projection]
