import type { NoReply, RequestVerb } from '../../domain/ports/requests.ts'

export const nobodyThere = (verb: RequestVerb): NoReply => ({
  type: 'NobodyThere',
  reason: `nobody answers ${verb}`,
  mend: 'start `leasehold up` with this bus, or ask over HTTP',
})

export const tooLate = (verb: RequestVerb, withinMs: number): NoReply => ({
  type: 'TooLate',
  reason: `${verb} was not answered in ${withinMs} ms`,
  mend: 'ask again: the same order again is followed once',
})
