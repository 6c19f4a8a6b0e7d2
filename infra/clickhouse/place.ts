import { either as E } from 'fp-ts'
import { optionsOf, unescaped } from '../host/connection-url.ts'

/** A ClickHouse server, the database of it that holds the views, and who asks. */
export interface ServerPlace {
  /** Scheme, host and port. */
  readonly url: string
  readonly user: string
  /** Null: it is in `passwordFile`, or there is none. */
  readonly password: string | null
  readonly passwordFile: string | null
  /** Of the authority that the server's certificate is from; null: one that this machine knows. */
  readonly caFile: string | null
  readonly database: string
}

const shape =
  /^(?<scheme>https?):\/\/(?:(?<user>[^:@/?#\s]+)(?::(?<password>[^:@/?#\s]*))?@)?(?<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?<port>\d{1,5}))?\/?(?:\?(?<options>[^#\s]*))?$/
const portDefaults = { http: 8_123, https: 8_443 } as const
const options = ['database', 'passwordFile', 'tlsCAFile'] as const

/** Says what is wrong with it and repeats nothing of it: it may hold a password. */
export const parseClickHouseUrl = (url: string): E.Either<string, ServerPlace> => {
  const parts = shape.exec(url)?.groups
  if (parts === undefined)
    return E.left(
      'it is not of the form https://user:password@host:8443?option=value, with %-escapes for @ : / ? # in it',
    )
  const scheme = parts['scheme'] as keyof typeof portDefaults
  const port = Number(parts['port'] ?? portDefaults[scheme])
  if (port < 1 || port > 65_535) return E.left('its port is none')
  const read = optionsOf(parts['options'] ?? '', options)
  if (E.isLeft(read)) return read
  const { database = 'leasehold', passwordFile = null, tlsCAFile: caFile = null } = read.right
  const user = unescaped(parts['user'])
  const password = unescaped(parts['password'])
  if (user === undefined || password === undefined) return E.left('its user or password has a % that escapes nothing')
  if (password !== null && passwordFile !== null) return E.left('it has both a password and a passwordFile')
  if (scheme === 'http' && caFile !== null) return E.left('tlsCAFile is of no use with http://')
  if (!/^[A-Za-z_]\w{0,99}$/.test(database))
    return E.left('database is a name of letters, digits and underscores, not beginning with a digit')
  return E.right({
    url: `${scheme}://${parts['host']!}:${port}`,
    user: user ?? 'default',
    ...{ password, passwordFile, caFile, database },
  })
}
