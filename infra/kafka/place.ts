import { either as E } from 'fp-ts'

export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512'

/** Where the brokers are, and who we are to them. */
export interface KafkaPlace {
  readonly brokers: ReadonlyArray<string>
  readonly tls: boolean
  /** A file with the authority's certificates in PEM; null: those that the system trusts. */
  readonly tlsCaFile: string | null
  readonly sasl: { readonly mechanism: SaslMechanism; readonly user: string; readonly password: string } | null
}

const mechanisms: ReadonlyArray<SaslMechanism> = ['plain', 'scram-sha-256', 'scram-sha-512']
const options = ['tls', 'tlsCAFile', 'mechanism']
const form = /^kafka:\/\/(?:([^:@/]+):([^@/]*)@)?([^/?#@]+)\/?(?:\?([^#]*))?$/
const broker = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$/

/**
 * `kafka://user:password@host:9092,host:9092?tls=true&tlsCAFile=ca.pem&mechanism=scram-sha-512`. Without `tls` it is spoken in the
 * clear; with a user and no mechanism SCRAM-SHA-256 is used. What is wrong is said without the URL: it may hold a password.
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
  try {
    const sasl =
      user === undefined
        ? null
        : { mechanism, user: decodeURIComponent(user), password: decodeURIComponent(password ?? '') }
    return E.right({ brokers, tls: tls === 'true', tlsCaFile, sasl })
  } catch {
    return E.left('its user or password has a % that is not followed by two hexadecimal digits')
  }
}

/** For people: without who we are. */
export const describePlace = ({ brokers }: KafkaPlace): string => `kafka://${brokers.join(',')}`
