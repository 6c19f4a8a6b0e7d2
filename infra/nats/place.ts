import { either as E } from 'fp-ts'
import { hostsOf, optionsOf, unescaped } from '../host/connection-url.ts'

/** Which NATS servers, and how they are reached. */
export interface NatsPlace {
  /** Members of one cluster, or one server. */
  readonly servers: ReadonlyArray<string>
  readonly tls: boolean
  readonly user: string | null
  /** Null: it is in `passwordFile`, or there is none. */
  readonly password: string | null
  readonly passwordFile: string | null
  /** Of a user with an nkey: its seed. */
  readonly nkeyFile: string | null
  /** Of a user with a JWT, as `nsc` writes it. */
  readonly credsFile: string | null
  /** Of the authority that the server's certificate is from; null: one that this machine knows. */
  readonly caFile: string | null
  /** Our own certificate and its key, where the server wants to see one. */
  readonly certFile: string | null
  readonly keyFile: string | null
  /** The servers' own names: whoever else answers is not talked to. Empty: any server will do. */
  readonly names: ReadonlyArray<string>
  /** First word of every subject; streams are named after it. */
  readonly prefix: string
  /** Copies of each stream in a cluster. */
  readonly replicas: number
  /** Of one call. */
  readonly timeoutMs: number
}

const shape =
  /^(?<scheme>nats|tls):\/\/(?:(?<user>[^:@/?#\s]+)(?::(?<password>[^:@/?#\s]*))?@)?(?<hosts>[^@/?#\s]+)\/?(?:\?(?<options>[^#\s]*))?$/
const portDefault = 4_222
const timeoutDefaultMs = 3_000
const timeoutMaxMs = 600_000

const optionNames = [
  'passwordFile',
  'nkeyFile',
  'credsFile',
  'tlsCAFile',
  'tlsCertFile',
  'tlsKeyFile',
  'name',
  'prefix',
  'replicas',
  'timeout',
] as const

/**
 * `nats://user:password@host:4222,host?option=value`, or `tls://`. Says what is wrong with it and repeats nothing of it: it may
 * hold a password.
 */
export const parseNatsUrl = (url: string): E.Either<string, NatsPlace> => {
  const parts = shape.exec(url)?.groups
  if (parts === undefined)
    return E.left(
      'it is not of the form nats://user:password@host:4222?option=value, with %-escapes for @ : / ? # in it',
    )
  const hosts = hostsOf(parts['hosts']!, portDefault)
  if (E.isLeft(hosts)) return hosts
  const read = optionsOf(parts['options'] ?? '', optionNames)
  if (E.isLeft(read)) return read
  const options = read.right
  const user = unescaped(parts['user'])
  const password = unescaped(parts['password'])
  if (user === undefined || password === undefined) return E.left('its user or password has a % that escapes nothing')
  const place: NatsPlace = {
    servers: hosts.right.map(({ address, port }) => `${address}:${port}`),
    tls: parts['scheme'] === 'tls',
    user,
    password,
    passwordFile: options.passwordFile ?? null,
    nkeyFile: options.nkeyFile ?? null,
    credsFile: options.credsFile ?? null,
    caFile: options.tlsCAFile ?? null,
    certFile: options.tlsCertFile ?? null,
    keyFile: options.tlsKeyFile ?? null,
    names: options.name?.split(',') ?? [],
    prefix: options.prefix ?? 'leasehold',
    replicas: Number(options.replicas ?? 1),
    timeoutMs: Number(options.timeout ?? timeoutDefaultMs),
  }
  const objection = objectionTo(place)
  return objection === null ? E.right(place) : E.left(objection)
}

const objectionTo = (place: NatsPlace): string | null => {
  const { caFile, certFile, credsFile, keyFile, nkeyFile, password, passwordFile, prefix, replicas, tls, user } = place
  if (password !== null && passwordFile !== null) return 'it has both a password and a passwordFile'
  if (user === null && passwordFile !== null) return 'passwordFile is the password of a user, and it names none'
  if (user !== null && password === null && passwordFile === null) return 'it names a user and no password'
  if ([user, nkeyFile, credsFile].filter((way) => way !== null).length > 1)
    return 'it says who we are in more than one way: keep one of user, nkeyFile and credsFile'
  if (!tls && [caFile, certFile, keyFile].some((file) => file !== null))
    return 'the tls files are of no use with nats://: write tls://'
  if ((certFile === null) !== (keyFile === null)) return 'tlsCertFile and tlsKeyFile go together'
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(prefix)) return 'prefix is a name of letters, digits, dashes and underscores'
  if (![1, 3, 5].includes(replicas)) return 'replicas is 1, 3 or 5'
  if (!Number.isInteger(place.timeoutMs) || place.timeoutMs < 1 || place.timeoutMs > timeoutMaxMs)
    return `timeout is a whole number of milliseconds from 1 to ${timeoutMaxMs}`
  return null
}

/** For people: neither user nor password. */
export const describePlace = ({ prefix, servers, tls }: NatsPlace): string =>
  `${tls ? 'tls' : 'nats'}://${servers.join(',')} (prefix ${prefix})`
