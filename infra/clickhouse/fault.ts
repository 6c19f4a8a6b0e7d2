import { ClickHouseError } from '@clickhouse/client'
import type { QueryRefused, ViewsUnavailable } from '../../domain/ports/views.ts'

export const unavailable = (kind: ViewsUnavailable['kind'], reason: string, mend: string): ViewsUnavailable => ({
  type: 'ViewsUnavailable',
  kind,
  reason,
  mend,
})

export const refused = (kind: QueryRefused['kind'], reason: string, mend: string): QueryRefused => ({
  type: 'QueryRefused',
  kind,
  reason,
  mend,
})

export const rebuildMend = 'run `leasehold rebuild`: it makes the views anew from the log'

const textMax = 600

/** What ClickHouse says, without its codes, its version, where in its source it was, and what else it would have taken. */
export const wordsOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const words = text
    .replace(/,? ?Stack trace.*/s, '')
    .replace(/(\.?\s*\([A-Z][A-Z0-9_]{3,}\)\.?\s*(\(version [^)]*\))?)+\s*$/, '')
    .replace(/\.?\s*Expected one of: .*/s, '')
    .replace(/Code: \d+\. /g, '')
    .replace(/DB::(ErrnoException|Exception|NetException): /g, '')
    .replace(/\s*\(version [^)]*\)/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  return words.length > textMax ? `${words.slice(0, textMax)} ...` : words
}

const codeOf = (cause: unknown): number => (cause instanceof ClickHouseError ? Number(cause.code) : Number.NaN)

const tlsMend =
  'name the file of the authority that made it, as tlsCAFile in the URL, and the host as it is named there'

/** Faults of the views themselves, whatever they were asked. Null: what was asked is at fault. */
const faultOfViews = (cause: unknown, place: string): ViewsUnavailable | null => {
  const code = codeOf(cause)
  const text = cause instanceof Error ? cause.message : String(cause)
  const words = wordsOf(cause)
  if (code === 243 || /No space left on device|errno: 28\b/.test(text))
    return unavailable('full', `${place}: the disk is full`, 'make room; what was not stored is written again')
  if (/Read-only file system|Permission denied|errno: (13|30)\b/.test(text))
    return unavailable('refused', `${place} cannot be written: ${words}`, 'give this user the right to write it')
  if ([192, 193, 194, 516].includes(code))
    return unavailable('refused', `${place}: ${words}`, 'give the user and the password of the ClickHouse server')
  if ([202, 209, 210, 236, 279, 425].includes(code))
    return unavailable('unreachable', `${place}: ${words}`, 'try again')
  if (cause instanceof ClickHouseError) return null
  const tls = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/CERT|SIGNATURE|^ERR_TLS/.test(tls))
    return unavailable('refused', `${place}: its certificate is not believed: ${words}`, tlsMend)
  return unavailable('unreachable', `${place} does not answer: ${words}`, 'try again; the log has everything')
}

/** Too many parts, no such replica, an insert of which the engine does not know what became, an error of its own. */
const passingCodes = [159, 242, 252, 319, 394, 999, 1000, 1001, 1002]

const damageCodes = [32, 33, 40, 117, 228, 271, 273, 432, 740]

export const viewsFault = (cause: unknown, place: string): ViewsUnavailable => {
  const fault = faultOfViews(cause, place)
  if (fault !== null) return fault
  if (codeOf(cause) === 241)
    return unavailable('refused', `${place}: ${wordsOf(cause)}`, 'try again when fewer queries run')
  if (passingCodes.includes(codeOf(cause)))
    return unavailable('unreachable', `${place}: ${wordsOf(cause)}`, 'try again')
  if (codeOf(cause) === 201)
    return unavailable('refused', `${place}: ${wordsOf(cause)}`, 'raise the quota of that user')
  if (codeOf(cause) === 497) return unavailable('refused', `${place}: ${wordsOf(cause)}`, 'grant it to that user')
  const what = damageCodes.includes(codeOf(cause)) ? 'it is damaged' : 'it is not as this release made it'
  return unavailable('refused', `${place}: ${what} (${wordsOf(cause)})`, rebuildMend)
}

const tooLongMend = 'ask for less: a shorter time, one workload, fewer groups'

export const queryFault = (cause: unknown, place: string): ViewsUnavailable | QueryRefused => {
  if (cause instanceof Error && /aborted a request|operation was aborted|Timeout error/.test(cause.message))
    return refused('too-long', 'it was given up well after its limit', tooLongMend)
  const fault = faultOfViews(cause, place)
  if (fault !== null) return fault
  const words = wordsOf(cause)
  switch (codeOf(cause)) {
    case 159:
    case 160:
      return refused('too-long', words, tooLongMend)
    case 158:
    case 396:
      return refused('too-many-rows', words, 'add a LIMIT, or group')
    case 241:
      return refused('too-much-memory', words, 'ask for less at a time, or for fewer groups')
    case 164:
    case 497:
      return refused('read-only', words, 'ask with SELECT alone, and of the views alone')
    default:
      return damageCodes.includes(codeOf(cause))
        ? unavailable('refused', `${place}: it is damaged (${words})`, rebuildMend)
        : refused('invalid', words, 'docs/views.md has the views, `DESCRIBE workloads` the columns of one')
  }
}
