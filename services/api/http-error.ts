import type { Fault } from '../../domain/kernel/fault.ts'
import type { DeskFault } from './desk.ts'

/** What is answered when something is wrong: with what was asked, or here. Never a stack trace. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly mend: string
  readonly faults: ReadonlyArray<Fault> | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    reason: string,
    mend: string,
    more: { readonly faults?: ReadonlyArray<Fault>; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(reason)
    this.status = status
    this.code = code
    this.mend = mend
    this.faults = more.faults ?? null
    this.headers = more.headers ?? {}
  }

  get body() {
    const { code, faults, mend, message } = this
    return { error: { code, reason: message, mend, ...(faults === null ? {} : { faults }) } }
  }
}

/** @param first faults in what was asked: the answer's reason tells the first of them */
export const invalid = (faults: ReadonlyArray<Fault>): HttpError => {
  const [first] = faults
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : ''
  const reason = first === undefined ? 'what was sent is not valid' : `${first.path}: ${first.reason}${more}`
  return new HttpError(400, 'invalid', reason, first?.mend ?? 'send it mended', { faults })
}

/** Seconds after which whoever is told that too much is going on may ask again. */
const retryAfterSeconds = '1'

export const httpErrorOf = (fault: DeskFault): HttpError => {
  switch (fault.type) {
    case 'Invalid':
      return invalid(fault.faults)
    case 'NotFound':
      return new HttpError(404, 'not-found', fault.reason, fault.mend)
    case 'Refused':
      return new HttpError(409, 'refused', fault.reason, fault.mend)
    case 'QueryRefused': {
      const isWrong = fault.kind === 'invalid' || fault.kind === 'read-only'
      return new HttpError(isWrong ? 400 : 422, `query-${fault.kind}`, fault.reason, fault.mend)
    }
    case 'LogUnavailable': {
      const headers = fault.kind === 'busy' ? { 'retry-after': retryAfterSeconds } : {}
      return new HttpError(503, `log-${fault.kind}`, fault.reason, fault.mend, { headers })
    }
    case 'ViewsUnavailable':
      return new HttpError(503, `views-${fault.kind}`, fault.reason, fault.mend)
    case 'OwnerUnreachable':
      return new HttpError(502, 'unreachable', fault.reason, fault.mend)
  }
}
