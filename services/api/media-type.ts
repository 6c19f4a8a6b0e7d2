import { HttpError } from './http-error.ts'

/** Other names of the types that are taken. */
const sameAs: { readonly [type: string]: string } = {
  'application/x-yaml': 'application/yaml',
  'text/yaml': 'application/yaml',
  'text/x-yaml': 'application/yaml',
  'application/jsonl': 'application/x-ndjson',
  'application/ndjson': 'application/x-ndjson',
}

/** The body's type among those that a route takes. A page's form has none of them but `text/plain`. */
export const bodyTypeOf = (
  header: string | undefined,
  encoding: string | undefined,
  types: ReadonlyArray<string>,
): string => {
  if (encoding !== undefined && encoding !== 'identity')
    throw wrongType(`the body is encoded as ${JSON.stringify(encoding)}`, 'send it as it is, without an encoding')
  const [written = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase())
  const type = sameAs[written] ?? written
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw wrongType(`the body is in ${JSON.stringify(charset)}`, 'send UTF-8')
  if (types.includes(type)) return type
  const said = written === '' ? 'nothing says what the body is' : `the body is ${JSON.stringify(written)}`
  throw wrongType(said, `send ${types.join(' or ')}, and say so in content-type`)
}

const wrongType = (reason: string, mend: string): HttpError => new HttpError(415, 'wrong-type', reason, mend)

/** The first of these that the client likes best; the first of all where it likes none. */
export const acceptedOf = (header: string | undefined, types: ReadonlyArray<string>): string => {
  let best = types[0]!
  let most = 0
  const ranges = (header ?? '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { type, weight: Number.isFinite(weight) ? weight : 0 }
  })
  for (const type of types) {
    const group = `${type.split('/')[0]!}/*`
    const range =
      ranges.find((each) => each.type === type) ??
      ranges.find((each) => each.type === group) ??
      ranges.find((each) => each.type === '*/*')
    if (range !== undefined && range.weight > most) {
      best = type
      most = range.weight
    }
  }
  return best
}
