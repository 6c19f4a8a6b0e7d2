import { either as E } from 'fp-ts'

/** Hosts of a connection URL, `host:port,host`: names or IPv4 addresses. */
export const hostsOf = (
  text: string,
  portDefault: number,
): E.Either<string, ReadonlyArray<{ readonly address: string; readonly port: number }>> => {
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

/** Options of a connection URL, `name=value&name=value`, their names in any case. */
export const optionsOf = <Name extends string>(
  text: string,
  names: ReadonlyArray<Name>,
): E.Either<string, { readonly [N in Name]?: string }> => {
  const read: { [N in Name]?: string } = {}
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const [name = '', value = ''] = pair.split('=', 2)
    const known = names.find((option) => option.toLowerCase() === name.toLowerCase())
    if (known === undefined) return E.left(`its options are ${names.join(', ')}`)
    const said = unescaped(value)
    if (said === undefined || said === null) return E.left(`${known} has no value`)
    read[known] = said
  }
  return E.right(read)
}

/** A part without its %-escapes. Null: it was left out; undefined: a % of it escapes nothing. */
export const unescaped = (part: string | undefined): string | null | undefined => {
  if (part === undefined || part === '') return null
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
