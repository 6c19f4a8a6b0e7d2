import { text } from 'node:stream/consumers'
import { ClickHouseError, createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { QueryLimits, QueryResult, TableRows } from '../../domain/ports/views.ts'
import { parseExact } from './exact-json.ts'
import { RetryTokens, type Part } from './retry-tokens.ts'

export interface EngineAddress {
  readonly url: string
  readonly user: string
  readonly password: string
  readonly database: string
  /** Certificate of the authority that the engine's is from, PEM; null: one that this machine knows, or there is no TLS. */
  readonly ca: string | null
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
  /** Of a part that comes again, since nobody knows whether it got in, nothing is added if it did. */
  readonly insert: (rows: TableRows, part?: Part) => Promise<void>
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
/** A batch is small. Who has not answered by then does not; whether the rows got in is unknown. */
const insertMaxMs = 60_000
/** Less than a server keeps a connection that nothing is asked on: it would be cut while the next request is under way. */
const idleSocketMaxMs = 2_500
/** `uptime()` counts whole seconds. */
const uptimeGrainMs = 2_000
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

/** Answered when the rows are in, here and in whatever a materialized view makes of them; each block once. */
const insertSettings = (token: string | null): ClickHouseSettings => ({
  async_insert: 0,
  insert_deduplicate: token === null ? 0 : 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  ...(token === null ? {} : { insert_deduplication_token: token }),
})

/** What the engine says of an insert of which it does not know itself what became: it ran out of time, or lost a replica. */
const unknownCodes = [159, 209, 210, 319]

const isCut = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')

/**
 * Once more where the connection was cut, which is mostly one that the other side no longer kept. All that is asked here has
 * its effect once however often it is asked.
 */
const again = <A>(work: () => Promise<A>): Promise<A> =>
  work().catch((cause: unknown) => {
    if (!isCut(cause)) throw cause
    return work()
  })

interface Compact {
  readonly meta: QueryResult['columns']
  readonly data: QueryResult['rows']
}

export const openEngine = (address: EngineAddress, place: string): Engine => {
  const { url, user, password, database, ca } = address
  const client = (name: string): ClickHouseClient =>
    createClient({
      url,
      username: user,
      password,
      database: name,
      request_timeout: ownRequestMaxMs,
      max_open_connections: connectionsMax,
      keep_alive: { enabled: true, idle_socket_ttl: idleSocketMaxMs, eagerly_destroy_stale_sockets: true },
      ...(ca === null ? {} : { tls: { ca_cert: Buffer.from(ca) } }),
      application: 'leasehold',
      log: { level: 127 },
    })
  const within = client(database)
  const rows: Engine['rows'] = (sql) =>
    again(async () => {
      const result = await within.query({ query: sql, format: 'JSONCompactStrings' })
      return (await result.json<ReadonlyArray<string>>()).data
    })
  const tokens = new RetryTokens()
  /** Since when it is unknown what became of an insert; null: it is known of all. */
  let unknownSince: number | null = null
  /** An engine that was started since may have noted a token and lost its rows. */
  const forgetIfRestarted = async (): Promise<void> => {
    if (unknownSince === null) return
    const since = unknownSince
    const [[uptime = '0'] = []] = await rows('SELECT uptime()')
    if (Number(uptime) * 1000 < performance.now() - since + uptimeGrainMs) tokens.forgetAll()
    unknownSince = null
  }
  const insert = async ({ columns, rows: values, table }: TableRows, part: Part | null): Promise<void> => {
    await forgetIfRestarted()
    const begun = performance.now()
    try {
      await within.insert({
        table,
        columns: [...columns] as [string, ...string[]],
        values,
        format: 'JSONCompactEachRow',
        clickhouse_settings: insertSettings(part === null ? null : tokens.of(part)),
        abort_signal: AbortSignal.timeout(insertMaxMs),
      })
    } catch (cause) {
      if (part !== null && cause instanceof ClickHouseError && !unknownCodes.includes(Number(cause.code)))
        tokens.forget(part)
      else unknownSince = Math.min(unknownSince ?? begun, begun)
      throw cause
    }
  }
  return {
    place,
    makeDatabase: async () => {
      const outside = client('default')
      try {
        await again(() => outside.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database}\`` }))
      } finally {
        await outside.close()
      }
    },
    command: async (sql) => {
      await again(() => within.command({ query: sql }))
    },
    insert: (batch, part) => again(() => insert(batch, part ?? null)),
    rows,
    read: (sql, limits, parameters) =>
      again(async () => {
        // Not as query(), which puts a FORMAT behind the text: that may become a part of what is said there.
        const { stream } = await within.exec({
          query: sql,
          query_params: parameters,
          clickhouse_settings: readSettings(limits),
          abort_signal: AbortSignal.timeout(limits.timeMaxMs + graceMs),
        })
        const { meta, data } = parseExact(await text(stream)) as unknown as Compact
        return { columns: meta, rows: data }
      }),
    tables: async () => {
      const names = await rows(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT LIKE '.inner%' ORDER BY engine NOT LIKE '%View', name",
      )
      return names.map(([name = '']) => name)
    },
    close: () => within.close(),
  }
}
