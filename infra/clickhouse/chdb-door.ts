import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setPriority } from 'node:os'
import { pipeline } from 'node:stream/promises'
import type { ClickHouseClientConfigOptions, DataFormat } from '@clickhouse/client'
import type { DoorMessage, DoorOrder } from './door-message.ts'

/*
 * A process of its own around chDB. It owns one folder and answers, on this host alone, what `@clickhouse/client` asks
 * of a ClickHouse server over HTTP. The engine lives in the main thread, because it crashes in any other. Whoever
 * started this process says the password over the channel between them; when the channel closes, this process ends.
 */

type EngineConnection = NonNullable<ClickHouseClientConfigOptions['connection']>

const [folder = ''] = process.argv.slice(2)
const bodyMaxBytes = 256 * 1024 * 1024
const connectionsMax = 32
const closeMaxMs = 4_000
/** The engine looks at the clock between blocks of rows; one function over one row may go on for hours. */
const overrunMaxMs = 10_000

/** A laptop's share: the engine would otherwise take 5 GiB for each cache and all but 2 GiB of the host. */
const engineArguments = [
  '--mark_cache_size=67108864',
  '--primary_index_cache_size=67108864',
  '--index_mark_cache_size=16777216',
  '--index_uncompressed_cache_size=16777216',
  '--query_condition_cache_size=16777216',
  '--compiled_expression_cache_size=33554432',
  '--max_server_memory_usage=3221225472',
]

/** Where processors are short, what is recorded goes before what is looked at. */
const niceness = 10

const tell = (message: DoorMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.send === undefined || !process.connected) {
      resolve()
      return
    }
    process.send(message, () => {
      resolve()
    })
  })

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const open = async () => {
  const [{ Session, drainPending, version }, { createChdbConnection }, { createClient }] = await Promise.all([
    import('chdb'),
    import('chdb/connection'),
    import('@clickhouse/client'),
  ]).catch(async (cause: unknown) => {
    await tell({ type: 'failed', stage: 'load', text: textOf(cause) })
    process.exit(1)
  })
  try {
    // Keeps the engine up with these arguments; every request has a connection of its own beside it.
    const engine = new Session(folder, { connectionArgs: engineArguments })
    const connect = () => {
      const connection = createChdbConnection({ path: folder })
      // The same interface, which either package declares for itself.
      return { client: createClient({ connection: connection as unknown as EngineConnection }), raw: connection.chdb }
    }
    return { engine, connect, drainPending, release: version().chdb }
  } catch (cause) {
    await tell({ type: 'failed', stage: 'open', text: textOf(cause) })
    process.exit(1)
  }
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Basic authorization or the two headers of ClickHouse; compared in a time that tells nothing. */
const admits =
  (password: string) =>
  ({ headers }: IncomingMessage): boolean => {
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
    const given =
      basic === undefined
        ? `${String(headers['x-clickhouse-user'])}:${String(headers['x-clickhouse-key'])}`
        : Buffer.from(basic, 'base64').toString()
    return timingSafeEqual(digestOf(given), digestOf(`default:${password}`))
  }

const bodyOf = async (request: IncomingMessage): Promise<Buffer | null> => {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes <= bodyMaxBytes) parts.push(part)
  }
  return bytes > bodyMaxBytes ? null : Buffer.concat(parts)
}

const notSettings = new Set(['query', 'query_id', 'database', 'session_id', 'role', 'default_format'])

/**
 * Settings in the order in which they are given, `readonly` last: nothing can be set after it. The value of a parameter
 * is escaped twice, as it will be read twice: as a literal, and as what a literal holds.
 */
const settingsOf = (params: URLSearchParams): Record<string, string> => {
  const settings: Record<string, string> = {}
  for (const [name, value] of params)
    if (!notSettings.has(name) && name !== 'readonly') settings[name] = value.replaceAll('\\', '\\\\')
  const readonly = params.get('readonly')
  if (readonly !== null) settings['readonly'] = readonly
  return settings
}

const insertion = /^\s*INSERT INTO ([\w.]+)\s*(?:\(([^)]*)\))?\s*FORMAT (\w+)\s*$/i
const rawFormats = ['JSONEachRow', 'JSONCompactEachRow', 'TSV', 'TabSeparated', 'CSV'] as const

const fail = (response: ServerResponse, status: number, text: string): void => {
  const code = /Code: (\d+)/.exec(text)?.[1]
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    ...(code === undefined ? {} : { 'X-ClickHouse-Exception-Code': code }),
  })
  response.end(text)
}

const causeText = (cause: unknown): string =>
  cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : textOf(cause)

type Opened = Awaited<ReturnType<typeof open>>

const answer = async ({ connect }: Opened, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const params = new URL(request.url ?? '/', 'http://localhost').searchParams
  const body = await bodyOf(request)
  if (body === null) {
    fail(response, 413, `Code: 1. DB::Exception: more than ${bodyMaxBytes} bytes in one request. (TOO_LARGE)`)
    return
  }
  const query = params.get('query')
  const { client, raw } = connect()
  const limitMs = Number(params.get('max_execution_time') ?? 0) * 1000
  // Nothing else ends it. What was acknowledged survives, and whoever started this process starts it again.
  const overrun = limitMs > 0 ? setTimeout(endAtOnce, limitMs + overrunMaxMs) : undefined
  try {
    const database = params.get('database') ?? 'default'
    // By itself, so that places in messages count in the text of whoever wrote the query.
    await client.command({ query: `USE \`${database}\``, clickhouse_settings: settingsOf(params) })
    const insert = query === null ? null : insertion.exec(query)
    const rawFormat = rawFormats.find((each) => each === insert?.[3])
    if (insert !== null && rawFormat !== undefined) {
      const columns = insert[2]?.split(',').map((name) => name.trim().replace(/^`(.*)`$/, '$1'))
      if (body.length > 0)
        await raw.rawInsert({
          table: insert[1]!,
          values: body,
          format: rawFormat,
          ...(columns === undefined ? {} : { columns }),
        })
      response.end()
      return
    }
    const text = body.toString()
    const format = params.get('default_format') ?? 'TabSeparated'
    const { stream } = await client.exec({
      query: query === null ? text : text === '' ? query : `${query}\n${text}`,
      clickhouse_settings: { default_format: format as DataFormat },
    })
    response.writeHead(200, { 'Content-Type': 'text/plain; charset=UTF-8' })
    await pipeline(stream, response)
  } catch (cause) {
    fail(response, 500, causeText(cause))
  } finally {
    clearTimeout(overrun)
    await client.close()
  }
}

const endAtOnce = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

const serve = (opened: Opened, password: string): Promise<number> => {
  const isAdmitted = admits(password)
  const server = createServer((request, response) => {
    if (request.url === '/ping') response.end('Ok.\n')
    else if (!isAdmitted(request))
      fail(response, 403, 'Code: 516. DB::Exception: the password is wrong. (AUTHENTICATION_FAILED)')
    else
      answer(opened, request, response).catch((cause: unknown) => {
        fail(response, 500, textOf(cause))
      })
  })
  server.maxConnections = connectionsMax
  server.keepAliveTimeout = 120_000
  server.requestTimeout = 0
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port)
    })
  })
}

let opened: Opened | null = null
let isEnding = false

/** What still runs is let end; if that takes too long the engine is left as it is, which it survives. */
const end = async (): Promise<void> => {
  if (isEnding) return
  isEnding = true
  setTimeout(endAtOnce, closeMaxMs)
  if (opened !== null) {
    await opened.drainPending()
    opened.engine.close()
    await opened.drainPending()
  }
  process.exit(0)
}

setPriority(niceness)
// A terminal and a service manager signal the whole group: this process goes on until its owner is done with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => void end())
process.on('message', (order: DoorOrder) => {
  if (order.type === 'close') void end()
  else
    void open().then(async (engine) => {
      opened = engine
      const port = await serve(engine, order.password)
      await tell({ type: 'ready', port, release: engine.release })
    })
})
if (!process.connected) process.exit(1)
