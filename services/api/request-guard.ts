import type { IncomingMessage } from 'node:http'
import { HttpError } from './http-error.ts'

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Given twice, they mean one thing to one reader and another to the next. */
const single: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
])

/**
 * Whether a request comes from where one may: a page of some other site, or a name that has been pointed here, is
 * refused before anything is done for it. Null: it may.
 * @param hosts names that are ours beside the loopback's, in lower case and without a port
 */
export const objectionTo = ({ headers, rawHeaders }: IncomingMessage, hosts: ReadonlySet<string>): HttpError | null => {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!single.has(name)) continue
    if (seen.has(name)) return new HttpError(400, 'invalid', `the header ${name} is there twice`, 'send it once')
    seen.add(name)
  }
  const isOurs = (name: string | null): boolean => name !== null && (loopback.has(name) || hosts.has(name))
  if (!isOurs(hostIn(`http://${headers.host ?? ''}`)))
    return forbidden(`this is not the host ${JSON.stringify(headers.host ?? '')}`)
  const { origin } = headers
  if (origin !== undefined && !isOurs(hostIn(origin)))
    return forbidden(`a page of ${JSON.stringify(origin)} may not ask here`)
  if (headers['sec-fetch-site'] === 'cross-site') return forbidden('a page of another site may not ask here')
  return null
}

const hostIn = (url: string): string | null => {
  try {
    const { hostname, password, pathname, username } = new URL(url)
    return username === '' && password === '' && (pathname === '/' || pathname === '') ? hostname.toLowerCase() : null
  } catch {
    return null
  }
}

const forbidden = (reason: string): HttpError =>
  new HttpError(403, 'forbidden', reason, 'ask by the address it listens on, or name the host in its configuration')
