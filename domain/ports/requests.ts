import type { taskEither as TE } from 'fp-ts'
import type { BusDelivery } from './bus-delivery.ts'
import type { BusUnavailable } from './bus-unavailable.ts'

export const requestVerbs = ['submit', 'plan', 'why'] as const
export type RequestVerb = (typeof requestVerbs)[number]

/** Nobody is there to answer; or nobody did in time, and an order may have been followed all the same. */
export type NoReply = {
  readonly type: 'NobodyThere' | 'TooLate'
  readonly reason: string
  readonly mend: string
}

/** Answers a question, JSON in and JSON out. One that cannot be answered has an answer too: `{error: {code, reason, mend}}`. */
export type Answering = (question: string) => Promise<string>

/** Where questions are answered and orders taken. Of several that answer a verb one gets each question. */
export interface RequestResponder {
  readonly answer: (verb: RequestVerb, answering: Answering) => BusDelivery
}

export interface Requester {
  readonly ask: (
    verb: RequestVerb,
    question: string,
    withinMs: number,
  ) => TE.TaskEither<NoReply | BusUnavailable, string>
}
