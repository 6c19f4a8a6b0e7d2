import type { Engine } from './engine.ts'

/** What a table holds, however it is stored: rows without their repeats, and a hash of them that knows no order. */
export interface TableContent {
  readonly table: string
  readonly rows: number
  /** 32 digits in hex. Column of the version left out. */
  readonly hash: string
}

export interface TableSize {
  readonly table: string
  /** Stored, repeats included. */
  readonly rows: number
  readonly bytes: number
  readonly parts: number
}

/** How far the views are, and which migrations made them: not what they say. */
const bookkeeping = "('projection', 'schema_migration')"

export const contentsOf = async (engine: Engine): Promise<ReadonlyArray<TableContent>> => {
  const tables = await engine.rows(
    `SELECT name, engine_full FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN ${bookkeeping} ORDER BY name`,
  )
  const contents: TableContent[] = []
  for (const [table = '', full = ''] of tables) {
    const replacing = /^Replacing\w*MergeTree\(?([^)]*)\)?/.exec(full)
    const version = replacing?.[1]?.split(',')[0]?.trim() ?? ''
    const columns = (
      await engine.rows(
        `SELECT name FROM system.columns
         WHERE database = currentDatabase() AND table = '${table}' AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') ORDER BY name`,
      )
    )
      .map(([column = '']) => column)
      .filter((column) => column !== version)
    // As text, in which null differs from everything else; a hash of null would be null, and left out of the sum.
    const row = `toString(tuple(${columns.map((column) => `\`${column}\``).join(', ')}))`
    const from = `\`${table}\`${replacing === null ? '' : ' FINAL'}`
    const [[rows = '0', low = '0', high = '0'] = []] = await engine.rows(
      `SELECT count(), sum(cityHash64(${row})), sum(sipHash64(${row})) FROM ${from}`,
    )
    const hash = [low, high].map((part) => BigInt(part).toString(16).padStart(16, '0')).join('')
    contents.push({ table, rows: Number(rows), hash })
  }
  return contents
}

export const sizesOf = async (engine: Engine): Promise<ReadonlyArray<TableSize>> => {
  const sizes = await engine.rows(
    `SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts
     WHERE database = currentDatabase() AND active GROUP BY table ORDER BY table`,
  )
  return sizes.map(([table = '', rows, bytes, parts]) => ({
    table,
    rows: Number(rows),
    bytes: Number(bytes),
    parts: Number(parts),
  }))
}
