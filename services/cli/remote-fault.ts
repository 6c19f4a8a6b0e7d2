import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { DeskFault } from '../api/desk.ts'

type KindOf<T extends DeskFault['type']> = Extract<DeskFault, { readonly type: T; readonly kind: string }>['kind']

const logKinds: ReadonlyArray<KindOf<'LogUnavailable'>> = [
  'full',
  'locked',
  'busy',
  'absent',
  'newer-schema',
  'damaged',
  'read-only',
  'closed',
  'input-output',
]
const viewsKinds: ReadonlyArray<KindOf<'ViewsUnavailable'>> = [
  'not-installed',
  'not-started',
  'locked',
  'full',
  'unreachable',
  'refused',
  'newer-schema',
]
const queryKinds: ReadonlyArray<KindOf<'QueryRefused'>> = [
  'invalid',
  'read-only',
  'too-long',
  'too-many-rows',
  'too-much-memory',
]

/** What an error of the HTTP interface says (docs/http.md), as the desk behind it said it; null: it is none of ours. */
export const faultIn = (value: Json | undefined): DeskFault | null => {
  const error = (value as { readonly error?: unknown } | null | undefined)?.error
  if (typeof error !== 'object' || error === null) return null
  const { code, faults, mend, reason } = error as Partial<Record<string, unknown>>
  if (typeof code !== 'string' || typeof reason !== 'string' || typeof mend !== 'string') return null
  const said = { reason, mend }
  const kindIn = <K extends string>(prefix: string, kinds: ReadonlyArray<K>): K | undefined =>
    kinds.find((kind) => code === `${prefix}-${kind}`)
  const log = kindIn('log', logKinds)
  if (log !== undefined) return { type: 'LogUnavailable', kind: log, ...said }
  const views = kindIn('views', viewsKinds)
  if (views !== undefined) return { type: 'ViewsUnavailable', kind: views, ...said }
  const query = kindIn('query', queryKinds)
  if (query !== undefined) return { type: 'QueryRefused', kind: query, ...said }
  switch (code) {
    case 'invalid':
      return { type: 'Invalid', faults: Array.isArray(faults) ? faults.filter(isFault) : [{ path: '$', ...said }] }
    case 'too-large':
    case 'wrong-type':
      return { type: 'Invalid', faults: [{ path: '$', ...said }] }
    case 'not-found':
      return { type: 'NotFound', ...said }
    case 'refused':
    case 'forbidden':
      return { type: 'Refused', ...said }
    default:
      return { type: 'OwnerUnreachable', ...said }
  }
}

const isFault = (value: unknown): value is Fault => {
  const { column, line, mend, path, reason } = (value ?? {}) as Partial<Record<string, unknown>>
  return (
    [path, reason, mend].every((text) => typeof text === 'string') &&
    [line, column].every((place) => place === undefined || typeof place === 'number')
  )
}
