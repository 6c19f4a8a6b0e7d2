import type { TableRows } from '../../domain/ports/views.ts'
import type { Row, RowTable } from './row-table.ts'

/** Where rows go until they are taken. Of rows with one key, the last is kept. */
export class RowSink {
  /** While false nothing is kept: what is told is in the views already. */
  keeps = true
  private rows = new Map<RowTable, Map<string | number, Row>>()
  private count = 0

  get size(): number {
    return this.count
  }

  put(table: RowTable, key: string | number, row: Row): void {
    if (!this.keeps) return
    let ofTable = this.rows.get(table)
    if (ofTable === undefined) {
      ofTable = new Map()
      this.rows.set(table, ofTable)
    }
    const before = ofTable.size
    ofTable.set(key, row)
    this.count += ofTable.size - before
  }

  /** The rows since the last take, of the tables that have any. */
  take(): ReadonlyArray<TableRows> {
    const taken = [...this.rows].map(([{ table, columns }, rows]) => ({ table, columns, rows: [...rows.values()] }))
    this.rows = new Map()
    this.count = 0
    return taken
  }
}
