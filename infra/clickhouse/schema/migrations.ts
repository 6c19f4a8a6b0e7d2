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

/** Tables and views before there were budgets. */
const rows: Migration = {
  name: '0002-rows',
  statements: [],
  replaced: '818fe582a2a69dfa2e80ac22f13a88c253b3e729b97f9b4211066b62fa491c6e',
}

/**
 * What people query, and the rows that it is made of. The position goes first: what an older release wrote is made anew
 * from the log, with the columns that it did not have.
 */
const shares: Migration = {
  name: '0003-shares',
  statements: ['TRUNCATE TABLE projection', ...tables.map(tableStatement), ...views.map(viewStatement)],
}

/** So many inserts are remembered by their tokens, here and where materialized views put them: what comes again adds nothing. */
export const rememberedInserts = 1_000

export const remembering = (table: string): string =>
  `ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = ${rememberedInserts}`

const tokens: Migration = {
  name: '0004-insert-tokens',
  statements: ['projection', ...tables.map(({ table }) => table)].map(remembering),
}

/** In the order in which they are applied. */
export const migrations: ReadonlyArray<Migration> = [projection, rows, shares, tokens]
