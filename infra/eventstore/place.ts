import { either as E } from 'fp-ts'

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
type Options = { readonly [O in (typeof options)[number]]?: string }

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
  const hosts = hostsOf(parts['hosts']!)
  if (E.isLeft(hosts)) return hosts
  const discover = parts['scheme'] === 'esdb+discover'
  if (discover && hosts.right.length > 1) return E.left('esdb+discover:// takes one name')
  const read = optionsOf(parts['options'] ?? '')
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
  const user = decoded(parts['user'])
  const password = decoded(parts['password'])
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

const hostsOf = (text: string): E.Either<string, EventStorePlace['hosts']> => {
  const hosts: { address: string; port: number }[] = []
  for (const host of text.split(',')) {
    const match = /^(?<address>[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?$/.exec(host)?.groups
    const port = Number(match?.['port'] ?? portDefault)
    if (match === undefined || port < 1 || port > 65_535)
      return E.left('a host is a name or an IPv4 address, and its port')
    hosts.push({ address: match['address']!, port })
  }
  return E.right(hosts)
}

const optionsOf = (text: string): E.Either<string, Options> => {
  const read: { -readonly [O in keyof Options]: Options[O] } = {}
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const [name = '', value = ''] = pair.split('=', 2)
    const known = options.find((option) => option.toLowerCase() === name.toLowerCase())
    if (known === undefined) return E.left(`its options are ${options.join(', ')}`)
    const text = decoded(value)
    if (text === undefined || text === null) return E.left(`${known} has no value`)
    read[known] = text
  }
  return E.right(read)
}

/** Null: it was left out; undefined: it cannot be. */
const decoded = (part: string | undefined): string | null | undefined => {
  if (part === undefined || part === '') return null
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** For people: neither user nor password. */
export const describePlace = ({ discover, hosts, stream }: EventStorePlace): string =>
  `${discover ? 'esdb+discover' : 'esdb'}://${hosts.map(({ address, port }) => `${address}:${port}`).join(',')} (stream ${stream})`
