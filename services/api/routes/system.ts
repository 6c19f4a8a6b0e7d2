import { optional, record } from '../../../domain/kernel/document.ts'
import type { EventRow } from '../desk.ts'
import { HttpError } from '../http-error.ts'
import { commandsSchema, healthzSchema, openApiSchema, plainText, readySchema, statusSchema } from '../schemas.ts'
import { asOf, count, eventStreamType, given, jsonType, noQuery, ok, route, textType, type Route } from './route.ts'

/** What these routes tell of beside what the desk knows. */
export interface SystemParts {
  readonly unready: () => ReadonlyArray<string>
  readonly metrics: () => Promise<string>
  readonly openApi: () => unknown
  readonly eventStreamsMax: number
}

const tag = 'system'
const commandsMax = 10_000

export const systemRoutes = ({ eventStreamsMax, metrics, openApi, unready }: SystemParts): ReadonlyArray<Route> => {
  let streams = 0
  return [
    route({
      method: 'GET',
      path: '/v1/status',
      tag,
      summary: 'What runs, how far the log and the views are, and what is degraded',
      query: noQuery,
      answers: { 200: { description: 'As `leasehold doctor` tells it', content: { [jsonType]: statusSchema } } },
      errors: [],
      answer: async ({ desk }) => ok(await given(desk.status())),
    }),
    route({
      method: 'GET',
      path: '/v1/commands',
      tag,
      summary: 'What adapters are to do and have not concluded; none while nothing is sent',
      query: record({ limit: optional(count(1, commandsMax), commandsMax), at: optional(asOf, null) }),
      answers: { 200: { description: 'Each with its id and deadline', content: { [jsonType]: commandsSchema } } },
      errors: [],
      answer: async ({ desk, query }) => ok(await given(desk.commands(query.limit, query.at))),
    }),
    route({
      method: 'GET',
      path: '/v1/events',
      tag,
      summary: 'Decisions as they are made, as server-sent events; the id of each is its position in the log',
      query: record({ from: optional(count(0, Number.MAX_SAFE_INTEGER), null) }),
      answers: {
        200: {
          description: 'From that position on; without one, from the end of the log, or from behind `Last-Event-ID`',
          content: { [eventStreamType]: plainText },
        },
      },
      errors: [],
      answer: ({ desk, lastEventId, query, signal }) => {
        if (streams >= eventStreamsMax)
          throw new HttpError(503, 'busy', `${eventStreamsMax} streams of events are open`, 'close one of them')
        const from = query.from ?? (lastEventId === null ? desk.follower.position + 1 : lastEventId + 1)
        streams++
        const closed = () => {
          streams--
        }
        signal.addEventListener('abort', closed, { once: true })
        return Promise.resolve({
          status: 200,
          type: eventStreamType,
          body: eventTexts(desk.events(from, signal)),
        })
      },
    }),
    route({
      method: 'GET',
      path: '/healthz',
      tag,
      summary: 'Whether the process answers',
      query: noQuery,
      answers: { 200: { description: 'It does', content: { [jsonType]: healthzSchema } } },
      errors: [],
      answer: () => Promise.resolve(ok({ status: 'alive' })),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      tag,
      summary: 'Whether facts and orders are taken',
      query: noQuery,
      answers: {
        200: { description: 'They are', content: { [jsonType]: readySchema } },
        503: { description: 'They are not, and why', content: { [jsonType]: readySchema } },
      },
      errors: [],
      answer: async ({ desk }) => {
        const { fault } = desk.follower
        const reasons = [...unready(), ...(fault === null ? [] : [fault.reason])]
        const { degraded, views } = await given(desk.status())
        const lag = views === null || views.lagEvents === 0 ? [] : [`the views lag by ${views.lagEvents} events`]
        const notes = [...degraded.map(({ reason, what }) => `${what}: ${reason}`), ...lag]
        const isReady = reasons.length === 0
        return ok({ status: isReady ? 'ready' : 'unready', reasons, notes }, isReady ? 200 : 503)
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      tag,
      summary: 'Figures for Prometheus',
      query: noQuery,
      answers: { 200: { description: 'In its text format', content: { [textType]: plainText } } },
      errors: [],
      answer: async () => ({ status: 200, type: `${textType}; version=0.0.4`, body: await metrics() }),
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      tag,
      summary: 'This interface, described in OpenAPI 3.1',
      query: noQuery,
      answers: { 200: { description: 'The document', content: { [jsonType]: openApiSchema } } },
      errors: [],
      answer: () => Promise.resolve(ok(openApi())),
    }),
  ]
}

async function* eventTexts(batches: AsyncIterable<ReadonlyArray<EventRow>>): AsyncGenerator<string> {
  // At once, so that the other end knows that it is heard.
  yield ': decisions follow\n\n'
  for await (const rows of batches)
    yield rows.length === 0
      ? ':\n\n'
      : rows.map((row) => `id: ${row.position}\nevent: ${row.type}\ndata: ${JSON.stringify(row)}\n\n`).join('')
}
