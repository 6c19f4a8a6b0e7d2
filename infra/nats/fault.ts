import { ErrorCode, NatsError } from 'nats'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import { describePlace, type NatsPlace } from './place.ts'

/** Codes of the server's answers: a stream has as many messages or bytes as it may have; storage is used up. */
const fullCodes = [10_047, 10_077, 10_023, 10_028]
const streamFullWords = /maximum (messages|bytes)|insufficient storage|resource limits exceeded/i
const tlsWords = /certificate|\bSSL\b|\bTLS\b|self.signed|wrong version number|unable to verify/i

/** The client's errors, in the words of the ports. No message of it holds a password. */
export const faultOf = (place: NatsPlace, cause: unknown): BusUnavailable => {
  const said = (kind: BusUnavailable['kind'], why: string, mend: string): BusUnavailable => ({
    type: 'BusUnavailable',
    kind,
    reason: `${describePlace(place)}: ${why}`,
    mend,
  })
  const words = wordsOf(cause)
  // First: its codes are those of HTTP, and 503 is that of a stream that is full too.
  const api = cause instanceof NatsError ? cause.api_error : undefined
  if (api !== undefined) {
    const isFull = fullCodes.includes(api.err_code ?? 0) || streamFullWords.test(api.description)
    return isFull
      ? said('full', api.description, 'let what waits there be taken, or raise the limits of the stream')
      : said(
          'not-fit',
          api.description,
          'see to the streams of the server; those of Leasehold are named after its prefix',
        )
  }
  const is = (...codes: ReadonlyArray<ErrorCode>) => codes.some((code) => isCode(cause, code))
  if (is(ErrorCode.PermissionsViolation)) return forbidden(place, cause as NatsError)
  if (is(...whoCodes)) return said('forbidden', `the server does not take who we say we are: ${words}`, whoMend)
  if (is(ErrorCode.MaxPayloadExceeded))
    return said('too-large', 'the message is larger than the server takes', 'raise max_payload of the server')
  if (is(ErrorCode.ConnectionClosed, ErrorCode.ConnectionDraining))
    return said('closed', 'the connection has been closed', 'open it again')
  if (is(ErrorCode.NoResponders))
    return said('not-fit', 'it answers without JetStream, or the stream is gone', jetStreamMend)
  const file = fileOf(cause)
  if (file !== null) return said('forbidden', `${file} cannot be read`, 'name a file that can be read')
  if (tlsWords.test(words)) return said('unreachable', `no secure connection: ${words}`, tlsMend)
  return said('unreachable', `it does not answer: ${words}`, 'see to the server and the network')
}

const whoCodes = [
  ErrorCode.AuthorizationViolation,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
  ErrorCode.AuthenticationTimeout,
]
const whoMend = 'give the user and password, the nkeyFile or the credsFile of one that the server knows'
const tlsMend = 'write nats:// for a server without TLS, or set tlsCAFile to the certificate of its authority'
const jetStreamMend = 'switch JetStream on in the configuration of the server'

/** One fault with its mend, whatever was tried. */
const forbidden = (place: NatsPlace, cause: NatsError): BusUnavailable => {
  const { operation, subject } = cause.permissionContext ?? violationIn(cause.message)
  return {
    type: 'BusUnavailable',
    kind: 'forbidden',
    reason: `${describePlace(place)}: we may not ${operation} ${subject}`,
    mend: `allow the user of this process to ${operation} ${subject} (docs/bus.md lists what each needs)`,
  }
}

const violationIn = (message: string) => {
  const [, operation = 'use', subject = 'it'] = /violation for (\w+) to "([^"]+)"/i.exec(message) ?? []
  return { operation: operation.toLowerCase().replace('subscription', 'subscribe'), subject }
}

/** Of the client's own codes. */
export const isCode = (cause: unknown, code: ErrorCode): boolean =>
  cause instanceof NatsError && cause.code === (code as string)

/** Of credentials or a certificate. */
const fileOf = (cause: unknown): string | null =>
  cause instanceof Error && 'syscall' in cause && 'path' in cause ? String(cause.path) : null

const wordsMax = 300

const wordsOf = (cause: unknown): string => {
  const first = cause instanceof NatsError ? (cause.chainedError ?? cause) : cause
  const words = (first instanceof Error ? first.message : String(first)).replace(/\s+/g, ' ').trim()
  return words.length > wordsMax ? `${words.slice(0, wordsMax)} ...` : words
}
