import { text } from 'node:stream/consumers'
import { createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { QueryLimits, QueryResult } from '../../domain/ports/views.ts'
import { parseExact } from './exact-json.ts'

export interface EngineAddress {
  readonly url: string
  readonly user: string
  readonly password: string
  readonly database: string
}

/**
 * One ClickHouse, wherever it runs, and one database of it.
 * @throws what `@clickhouse/client` throws; `fault.ts` has the words for it
 */
export interface Engine {
  /** As errors call it. */
  readonly place: string
  readonly makeDatabase: () => Promise<void>
  readonly command: (sql: string) => Promise<void>
  readonly insert: (
    table: string,
    columns: ReadonlyArray<string>,
    rows: ReadonlyArray<ReadonlyArray<Json>>,
  ) => Promise<void>
  /** Without limits, every value as text: for what this folder asks itself. */
  readonly rows: (sql: string) => Promise<ReadonlyArray<ReadonlyArray<string>>>
  /** What somebody else asks, and only reads. */
  readonly read: (sql: string, limits: QueryLimits, parameters: Readonly<Record<string, Json>>) => Promise<QueryResult>
  /** Tables and views of the database. */
  readonly tables: () => Promise<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

/** Ours have no end of their own: dropping a large table takes its time. */
const ownRequestMaxMs = 600_000
/** A reader is given up so long after its limit: the engine looks at the clock between blocks only. */
const graceMs = 5_000
const connectionsMax = 6
const resultMaxBytes = 32 * 1024 * 1024
const queryMemoryMaxBytes = 1024 * 1024 * 1024
const spillBytes = 256 * 1024 * 1024

const readSettings = ({ timeMaxMs, rowsMax }: QueryLimits): ClickHouseSettings => ({
  default_format: 'JSONCompact',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
  output_format_json_quote_decimals: 1,
  wait_end_of_query: 1,
  max_execution_time: timeMaxMs / 1000,
  timeout_overflow_mode: 'throw',
  max_result_rows: String(rowsMax),
  max_result_bytes: String(resultMaxBytes),
  result_overflow_mode: 'throw',
  max_memory_usage: String(queryMemoryMaxBytes),
  max_bytes_before_external_group_by: String(spillBytes),
  max_bytes_before_external_sort: String(spillBytes),
  allow_introspection_functions: 0,
  readonly: '1',
})

interface Compact {
  readonly meta: QueryResult['columns']
  readonly data: QueryResult['rows']
}

export const openEngine = (address: EngineAddress, place: string): Engine => {
  const { url, user, password, database } = address
  const client = (name: string): ClickHouseClient =>
    createClient({
      url,
      username: user,
      password,
      database: name,
      request_timeout: ownRequestMaxMs,
      max_open_connections: connectionsMax,
      application: 'leasehold',
      log: { level: 127 },
    })
  const within = client(database)
  const rows: Engine['rows'] = async (sql) => {
    const result = await within.query({ query: sql, format: 'JSONCompactStrings' })
    return (await result.json<ReadonlyArray<string>>()).data
  }
  return {
    place,
    makeDatabase: async () => {
      const outside = client('default')
      try {
        await outside.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database}\`` })
      } finally {
        await outside.close()
      }
    },
    command: async (sql) => {
      await within.command({ query: sql })
    },
    insert: async (table, columns, values) => {
      await within.insert({
        table,
        columns: [...columns] as [string, ...string[]],
        values,
        format: 'JSONCompactEachRow',
      })
    },
    rows,
    read: async (sql, limits, parameters) => {
      // Not as query(), which puts a FORMAT behind the text: that may become a part of what is said there.
      const { stream } = await within.exec({
        query: sql,
        query_params: parameters,
        clickhouse_settings: readSettings(limits),
        abort_signal: AbortSignal.timeout(limits.timeMaxMs + graceMs),
      })
      const { meta, data } = parseExact(await text(stream)) as unknown as Compact
      return { columns: meta, rows: data }
    },
    tables: async () => {
      const names = await rows(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.inner%' ORDER BY engine NOT LIKE '%View', name",
      )
      return names.map(([name = '']) => name)
    },
    close: () => within.close(),
  }
}
