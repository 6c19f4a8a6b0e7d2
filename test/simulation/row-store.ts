import { either as E, taskEither as TE } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { TableRows, ViewsUnavailable } from '../../domain/ports/views.ts'
import { tables as definitions } from '../../infra/clickhouse/schema/tables.ts'
import type { CountedViews } from '../../services/project/rebuild.ts'
import type { Chance, Lifeline } from './lifeline.ts'
import type { Weather } from './weather.ts'

type Row = ReadonlyArray<Json>
const identityQuery = 'SELECT cell, events, hash, version FROM cell_rows FINAL'
const brokenOff: ViewsUnavailable = {
  type: 'ViewsUnavailable',
  kind: 'unreachable',
  reason: 'the connection broke off',
  mend: 'try again',
}

/** Rows of every table, the highest version of each key, as the engine keeps them. It outlives the processes that write. */
export class RowStore {
  private readonly tables = new Map<string, Map<string, Row>>()
  private upTo = -1

  add({ table, columns, rows }: TableRows): void {
    const key = keyOf(table).map((name) => columns.indexOf(name))
    const version = columns.indexOf('version')
    const kept = this.tables.get(table) ?? new Map<string, Row>()
    this.tables.set(table, kept)
    for (const row of rows) {
      const name = JSON.stringify(key.map((at) => row[at]))
      const before = kept.get(name)
      if (before === undefined || Number(before[version]) <= Number(row[version])) kept.set(name, row)
    }
  }

  /** Everything that it holds, in an order that does not depend on how it came. */
  get content(): ReadonlyArray<readonly [table: string, rows: ReadonlyArray<string>]> {
    return [...this.tables]
      .map(([table, rows]) => [table, [...rows.values()].map((row) => JSON.stringify(row)).sort()] as const)
      .filter(([, rows]) => rows.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** As one process has it: a write may fail before, between or after its tables. */
  of(life: Lifeline, weather: Weather, below: Chance): CountedViews {
    const fails = (): boolean => weather.views && below(4) === 0
    return {
      projected: () => () => life.outside(() => (fails() ? E.left(brokenOff) : E.right(this.upTo)), 2),
      write: (upTo, tables) => async () => {
        for (const each of tables) {
          const added = await life.outside(() => (fails() ? false : (this.add(each), true)), 2)
          if (!added) return E.left(brokenOff)
        }
        return life.outside(() => {
          if (fails()) return E.left(brokenOff)
          this.upTo = Math.max(this.upTo, upTo)
          return fails() ? E.left(brokenOff) : E.right(undefined)
        }, 2)
      },
      query: (sql) => () => {
        if (sql !== identityQuery) throw new Error(`the row store answers one question alone, not ${sql}`)
        const rows = [...(this.tables.get('cell_rows')?.values() ?? [])]
        const columns = definitions.find(({ table }) => table === 'cell_rows')!.columns.map(([name]) => name)
        const wanted = ['cell', 'events', 'hash', 'version'].map((name) => columns.indexOf(name))
        return life.outside(() => E.right({ columns: [], rows: rows.map((row) => wanted.map((at) => row[at]!)) }), 2)
      },
      reset: () => () => {
        throw new Error('nothing that is stored here is of another log')
      },
      contents: () => TE.right([]),
      close: () => Promise.resolve(),
    }
  }
}

const keyOf = (table: string): ReadonlyArray<string> => {
  const { key } = definitions.find((each) => each.table === table)!
  return key.replace(/[()\s]/g, '').split(',')
}
