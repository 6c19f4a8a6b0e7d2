import { either as E } from 'fp-ts'
import { decoding } from '../../domain/kernel/document.ts'
import { isMap } from '../../domain/kernel/wording.ts'
import { requestVerbs, type Answering, type RequestResponder, type RequestVerb } from '../../domain/ports/requests.ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import { HttpError, invalid } from './http-error.ts'
import type { LocalDesk } from './local-desk.ts'
import { jsonType, type Asked, type Route } from './routes/route.ts'
import { workloadRoutes } from './routes/workloads.ts'

/** The route of the HTTP interface that says the same. */
export const routeOf: { readonly [V in RequestVerb]: string } = {
  submit: 'POST /v1/workloads',
  plan: 'POST /v1/plan',
  why: 'GET /v1/workloads/:id/why',
}

/**
 * Answers `submit`, `plan` and `why` as the HTTP interface does, with the same bodies. `{"intents": ..., "actor", "reason"}`,
 * `{"intents": ..., "at"}`, `{"workload": ..., "at"}`.
 */
export const answerRequests = (desk: LocalDesk, responder: RequestResponder): ReadonlyArray<BusDelivery> =>
  requestVerbs.map((verb) => responder.answer(verb, answeringBy(desk, verb)))

const answeringBy = (desk: LocalDesk, verb: RequestVerb): Answering => {
  const route = workloadRoutes.find(({ method, path }) => `${method} ${path}` === routeOf[verb])!
  return async (question) => {
    try {
      const { body } = await route.answer(askedOf(desk, verb, route, question))
      return JSON.stringify(body)
    } catch (cause) {
      if (cause instanceof HttpError) return JSON.stringify(cause.body)
      throw cause
    }
  }
}

const askedOf = (desk: LocalDesk, verb: RequestVerb, route: Route, question: string): Asked<unknown> => {
  const { intents, workload, ...rest } = questionIn(question)
  const isWhy = verb === 'why'
  if (isWhy && typeof workload !== 'string') throw missing('workload', 'name the workload')
  if (!isWhy && intents === undefined) throw missing('intents', 'give an intent, or a list of them')
  // What belongs to another verb is as unknown as anything else.
  const query = { ...rest, ...(isWhy ? { intents } : { workload }) }
  const texts = Object.entries(query).filter(([, value]) => value !== undefined)
  const read = decoding(route.query)(
    Object.fromEntries(texts.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value])),
  )
  if (E.isLeft(read)) throw invalid(read.left)
  return {
    desk,
    params: isWhy ? { id: workload as string } : {},
    query: read.right,
    type: jsonType,
    body: () => Promise.resolve(Buffer.from(JSON.stringify(intents))),
    chunks: () => nothing(),
    lastEventId: null,
    accepts: ([first]) => first!,
    signal: new AbortController().signal,
  }
}

const questionIn = (question: string): { readonly [name: string]: unknown } => {
  let value: unknown
  try {
    value = JSON.parse(question)
  } catch {
    throw invalid([{ path: '$', reason: 'is not JSON', mend: 'send one JSON object' }])
  }
  if (!isMap(value)) throw invalid([{ path: '$', reason: 'is no JSON object', mend: 'send one JSON object' }])
  return value
}

const missing = (path: string, mend: string): HttpError => invalid([{ path, reason: 'is missing', mend }])

async function* nothing(): AsyncGenerator<Uint8Array> {
  // No question comes bit by bit.
}
