import { either as E } from 'fp-ts'

export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512'

/** Where the brokers are, and who we are to them. */
export interface KafkaPlace {
  readonly brokers: ReadonlyArray<string>
  readonly tls: boolean
  /** A file with the authority's certificates in PEM; null: those that the system trusts. */
  readonly tlsCaFile: string | null
  readonly sasl: KafkaUser | null
  /** How long what one partition brings waits for others that may hold something earlier; null: as is usual. */
  readonly gatherMaxMs: number | null
}

export interface KafkaUser {
  readonly mechanism: SaslMechanism
  readonly user: string
  readonly password: string
  /** A file with the password instead; null: none. */
  readonly passwordFile: string | null
}

const mechanisms: ReadonlyArray<SaslMechanism> = ['plain', 'scram-sha-256', 'scram-sha-512']
const options = ['tls', 'tlsCAFile', 'mechanism', 'passwordFile', 'gather']
const form = /^kafka:\/\/(?:([^:@/]+)(?::([^@/]*))?@)?([^/?#@]+)\/?(?:\?([^#]*))?$/
const broker = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/

/**
 * `kafka://user:password@host:9092,host:9092?tls=true&tlsCAFile=ca.pem&mechanism=scram-sha-512`, the password in
 * the URL or in a `passwordFile`. Without `tls` it is spoken in the clear; with a user and no mechanism SCRAM-SHA-256 is used.
 * `gather` is in milliseconds. What is wrong is said without the URL: it may hold a password.
 */
export const parseKafkaUrl = (url: string): E.Either<string, KafkaPlace> => {
  const parts = form.exec(url)
  if (parts === null) return E.left('it is no kafka://host:port')
  const [, user, password, hosts = '', query = ''] = parts
  const brokers = hosts.split(',')
  if (!brokers.every((each) => broker.test(each))) return E.left('a broker is not of the form host:port')
  const given = new URLSearchParams(query)
  const unknown = [...given.keys()].find((name) => !options.includes(name))
  if (unknown !== undefined) return E.left(`it has no option ${unknown}: there are ${options.join(', ')}`)
  const tls = given.get('tls') ?? 'false'
  if (tls !== 'true' && tls !== 'false') return E.left('tls is neither true nor false')
  const tlsCaFile = given.get('tlsCAFile')
  if (tlsCaFile !== null && tls === 'false') return E.left('tlsCAFile is of no use without tls=true')
  const named = given.get('mechanism')
  const mechanism = mechanisms.find((each) => each === (named ?? 'scram-sha-256'))
  if (mechanism === undefined) return E.left(`mechanism is none of ${mechanisms.join(', ')}`)
  if (user === undefined && named !== null) return E.left('mechanism is of no use without a user')
  const passwordFile = given.get('passwordFile')
  if (user === undefined && passwordFile !== null)
    return E.left('passwordFile is the password of a user, and it names none')
  if (user !== undefined && (password === undefined) === (passwordFile === null))
    return E.left('a user has either a password or a passwordFile')
  const gather = given.get('gather')
  if (gather !== null && !/^\d{1,6}$/.test(gather))
    return E.left('gather is a whole number of milliseconds up to 999999')
  const gatherMaxMs = gather === null ? null : Number(gather)
  try {
    const sasl =
      user === undefined
        ? null
        : { mechanism, user: decodeURIComponent(user), password: decodeURIComponent(password ?? ''), passwordFile }
    return E.right({ brokers, tls: tls === 'true', tlsCaFile, sasl, gatherMaxMs })
  } catch {
    return E.left('its user or password has a % that is not followed by two hexadecimal digits')
  }
}

/** For people: without who we are. */
export const describePlace = ({ brokers }: KafkaPlace): string => `kafka://${brokers.join(',')}`
