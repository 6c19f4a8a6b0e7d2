import { timingSafeEqual } from 'node:crypto'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { openChdb } from '../../../infra/clickhouse/chdb.ts'
import { ownCertificate } from '../certificate.ts'
import { right } from '../events.ts'

/*
 * A small door before chDB, which stands for a ClickHouse server where there is none: it takes what `@clickhouse/client` sends
 * over HTTP or HTTPS from whoever has the password, has a real engine do it, and lets befall requests what befalls them on a
 * network. It is no server: it has one user, and no cluster.
 */

/**
 * `cut-before`: the connection breaks when the request was read, and nothing is done. `cut-after`: it breaks when it was done.
 * `gateway`: something in between answers 502. `full`: the engine has no room. A number: the answer comes so many ms late.
 */
export type Mishap = 'cut-before' | 'cut-after' | 'gateway' | 'full' | number

export interface HttpDoor {
  /** With user and password. */
  readonly url: string
  readonly address: string
  readonly password: string
  /** PEM; null: it speaks HTTP. */
  readonly certificate: string | null
  /** What befalls the next inserts, one each. */
  readonly inserts: Mishap[]
  /** The same for whatever else is asked. */
  readonly others: Mishap[]
  readonly connections: () => number
  /** Kills the engine, and waits until another one answers. */
  readonly killEngine: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface HttpDoorOptions {
  readonly tls: boolean
  /** How long it keeps a connection on which nothing is asked, ms. */
  readonly idleMaxMs?: number
}

const user = 'leasehold'
const password = 'p@ss word/:%'
const admitted = Buffer.from(`${user}:${password}`)

/** As a server: by basic authorization, or by two headers of its own, which the client sends over TLS. */
const isAdmitted = ({ headers }: IncomingMessage): boolean => {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
  const given =
    basic === undefined
      ? Buffer.from(`${String(headers['x-clickhouse-user'])}:${String(headers['x-clickhouse-key'])}`)
      : Buffer.from(basic, 'base64')
  return given.length === admitted.length && timingSafeEqual(given, admitted)
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts)
}

const say = (response: ServerResponse, status: number, code: number | null, text: string): void => {
  response.writeHead(status, code === null ? {} : { 'X-ClickHouse-Exception-Code': String(code) })
  response.end(text)
}

export const openHttpDoor = async (folder: string, { idleMaxMs = 10_000, tls }: HttpDoorOptions): Promise<HttpDoor> => {
  const chdb = await right(openChdb(folder))
  const own = tls ? ownCertificate() : null
  const inserts: Mishap[] = []
  const others: Mishap[] = []
  const ask = async (request: IncomingMessage, body: Buffer): Promise<Response> => {
    const { password: inner, url } = await right(chdb.address)
    return fetch(`${url}${request.url ?? '/'}`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`default:${inner}`).toString('base64')}` },
      body,
    })
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request)
    if (!isAdmitted(request)) {
      say(response, 403, 516, `Code: 516. DB::Exception: ${user}: Authentication failed. (AUTHENTICATION_FAILED)`)
      return
    }
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams.get('query') ?? ''
    const mishap = (/^\s*INSERT\b/i.test(query) ? inserts : others).shift()
    if (mishap === 'cut-before') request.socket.destroy()
    else if (mishap === 'gateway') say(response, 502, null, '<html>bad gateway</html>')
    else if (mishap === 'full')
      say(response, 500, 243, 'Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)')
    else {
      const done = await ask(request, body)
      const text = await done.text()
      if (typeof mishap === 'number') await wait(mishap)
      const code = done.headers.get('x-clickhouse-exception-code')
      if (mishap === 'cut-after') request.socket.destroy()
      else say(response, done.status, code === null ? null : Number(code), text)
    }
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // The engine is gone: nobody knows what became of what it was asked.
    answer(request, response).catch(() => request.socket.destroy())
  }
  const server = own === null ? createPlain(listener) : createSecure({ key: own.key, cert: own.certificate }, listener)
  server.keepAliveTimeout = idleMaxMs
  let connections = 0
  server.on(own === null ? 'connection' : 'secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const scheme = own === null ? 'http' : 'https'
  return {
    url: `${scheme}://${user}:${encodeURIComponent(password)}@${host}`,
    address: `${scheme}://${host}`,
    password,
    certificate: own?.certificate ?? null,
    inserts,
    others,
    connections: () => connections,
    killEngine: async () => {
      const { pid } = await right(chdb.address)
      process.kill(pid, 'SIGKILL')
      await chdb.gone(pid)
      await right(chdb.address)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await chdb.close()
    },
  }
}
