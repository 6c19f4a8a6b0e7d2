import type { Json } from '../../../domain/kernel/canonical-json.ts'
import type { TableRows } from '../../../domain/ports/views.ts'
import { tables } from '../../../infra/clickhouse/schema/tables.ts'

const keyOf = new Map(tables.map(({ table, key }) => [table, key.replace(/[()]/g, '').split(', ')]))

/** What FINAL reads of rows that came in any order and repeated: of each key, the row of the highest version. */
export class FinalRows {
  private readonly byTable = new Map<string, Map<string, ReadonlyArray<Json>>>()

  add(tablesOfRows: ReadonlyArray<TableRows>): void {
    for (const { table, columns, rows } of tablesOfRows) {
      const key = keyOf.get(table)!.map((name) => columns.indexOf(name))
      const version = columns.indexOf('version')
      const ofTable = this.byTable.get(table) ?? new Map<string, ReadonlyArray<Json>>()
      this.byTable.set(table, ofTable)
      for (const row of rows) {
        const name = JSON.stringify(key.map((at) => row[at]))
        const known = ofTable.get(name)
        if (known === undefined || Number(known[version]) <= Number(row[version])) ofTable.set(name, row)
      }
    }
  }

  rows(table: string): ReadonlyArray<ReadonlyArray<Json>> {
    return [...(this.byTable.get(table) ?? new Map<string, ReadonlyArray<Json>>()).values()]
  }

  /** Everything, in an order of its own. */
  get text(): string {
    const lines = [...this.byTable].flatMap(([table, rows]) =>
      Array.from(rows, ([key, row]) => `${table} ${key} ${JSON.stringify(row)}`),
    )
    return lines.sort().join('\n')
  }
}
