import { either as E } from 'fp-ts'
import { hostsOf, optionsOf, unescaped } from '../host/connection-url.ts'

/** Which server keeps the log, in which of its streams, and how it is reached. */
export interface EventStorePlace {
  /** One server; several members of a cluster; or, with `discover`, one name behind which a cluster is. */
  readonly hosts: ReadonlyArray<{ readonly address: string; readonly port: number }>
  readonly discover: boolean
  readonly tls: boolean
  /** Of the authority that the server's certificate is from; null: one that this machine knows. */
  readonly caFile: string | null
  readonly user: string | null
  /** Null: it is in `passwordFile`, or there is none. */
  readonly password: string | null
  readonly passwordFile: string | null
  readonly stream: string
  /** Of one call. */
  readonly deadlineMs: number
}

const shape =
  /^(?<scheme>esdb|esdb\+discover):\/\/(?:(?<user>[^:@/?#\s]+)(?::(?<password>[^:@/?#\s]*))?@)?(?<hosts>[^@/?#\s]+)\/?(?:\?(?<options>[^#\s]*))?$/
const portDefault = 2_113
const deadlineDefaultMs = 5_000
const deadlineMaxMs = 600_000

const options = ['tls', 'tlsCAFile', 'passwordFile', 'stream', 'defaultDeadline'] as const

/**
 * The server's own connection string, with a name for the log's stream. Says what is wrong with it and repeats nothing of it:
 * it may hold a password.
 */
export const parseEventStoreUrl = (url: string): E.Either<string, EventStorePlace> => {
  const parts = shape.exec(url)?.groups
  if (parts === undefined)
    return E.left(
      'it is not of the form esdb://user:password@host:2113?option=value, with %-escapes for @ : / ? # in it',
    )
  const hosts = hostsOf(parts['hosts']!, portDefault)
  if (E.isLeft(hosts)) return hosts
  const discover = parts['scheme'] === 'esdb+discover'
  if (discover && hosts.right.length > 1) return E.left('esdb+discover:// takes one name')
  const read = optionsOf(parts['options'] ?? '', options)
  if (E.isLeft(read)) return read
  const {
    defaultDeadline = String(deadlineDefaultMs),
    passwordFile = null,
    tls = 'true',
    tlsCAFile = null,
  } = read.right
  const stream = read.right.stream ?? 'leasehold'
  const deadlineMs = /^\d{1,6}$/.test(defaultDeadline) ? Number(defaultDeadline) : 0
  if (deadlineMs < 1 || deadlineMs > deadlineMaxMs)
    return E.left(`defaultDeadline is a whole number of milliseconds from 1 to ${deadlineMaxMs}`)
  if (tls !== 'true' && tls !== 'false') return E.left('tls is true or false')
  if (tls === 'false' && tlsCAFile !== null) return E.left('tlsCAFile is of no use with tls=false')
  if (!/^[A-Za-z0-9_][\w.-]{0,199}$/.test(stream))
    return E.left('stream is a name of letters, digits, dots, dashes and underscores')
  const user = unescaped(parts['user'])
  const password = unescaped(parts['password'])
  if (user === undefined || password === undefined) return E.left('its user or password has a % that escapes nothing')
  if (password !== null && passwordFile !== null) return E.left('it has both a password and a passwordFile')
  if (user === null && passwordFile !== null) return E.left('passwordFile is the password of a user, and it names none')
  if (user !== null && password === null && passwordFile === null) return E.left('it names a user and no password')
  return E.right({
    hosts: hosts.right,
    discover,
    tls: tls === 'true',
    caFile: tlsCAFile,
    user,
    password,
    passwordFile,
    stream,
    deadlineMs,
  })
}

/** For people: neither user nor password. */
export const describePlace = ({ discover, hosts, stream }: EventStorePlace): string =>
  `${discover ? 'esdb+discover' : 'esdb'}://${hosts.map(({ address, port }) => `${address}:${port}`).join(',')} (stream ${stream})`
