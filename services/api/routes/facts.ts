import { cloudEventSchemas } from '../../../domain/planner/cloud-event.ts'
import { factsSchema, letterSchema, lettersSchema, orderedSchema } from '../schemas.ts'
import { byBody, byIn } from './order.ts'
import { given, jsonType, ndjsonType, noQuery, ok, route, type Route } from './route.ts'

const tag = 'facts'
const letter = { id: 'id of the dead letter' }
const ordered = { 200: { description: 'Recorded', content: { [jsonType]: orderedSchema } } }

export const factRoutes: ReadonlyArray<Route> = [
  route({
    method: 'POST',
    path: '/v1/facts',
    tag,
    summary: 'Takes facts, one CloudEvent in a line, as many as come; each is durable before it is counted',
    query: noQuery,
    body: { types: { [ndjsonType]: { anyOf: [...cloudEventSchemas.values()] } } },
    answers: {
      200: {
        description: 'What became of them; of the objections, the first',
        content: { [jsonType]: factsSchema },
      },
    },
    errors: [],
    answer: async ({ chunks, desk }) => ok(await given(desk.facts(chunks()))),
  }),
  route({
    method: 'GET',
    path: '/v1/dlq',
    tag,
    summary: 'Lines that could not be decoded, and what became of them',
    query: noQuery,
    answers: { 200: { description: 'The newest last', content: { [jsonType]: lettersSchema } } },
    errors: [],
    answer: async ({ desk }) => ok(await given(desk.deadLetters())),
  }),
  route({
    method: 'GET',
    path: '/v1/dlq/:id',
    tag,
    summary: 'One of them, with every fault in it',
    params: letter,
    query: noQuery,
    answers: { 200: { description: 'The line as it came', content: { [jsonType]: letterSchema } } },
    errors: [404],
    answer: async ({ desk, params }) => ok(await given(desk.deadLetter(params['id']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/dlq/:id/replay',
    tag,
    summary: 'Takes the line once more',
    params: letter,
    query: noQuery,
    body: byBody,
    answers: ordered,
    errors: [404, 409],
    answer: async (asked) => {
      const replayed = asked.desk.replayDeadLetter(asked.params['id']!, await byIn(asked))
      return ok(await given(replayed))
    },
  }),
  route({
    method: 'POST',
    path: '/v1/dlq/:id/drop',
    tag,
    summary: 'Records that the line is not wanted',
    params: letter,
    query: noQuery,
    body: byBody,
    answers: ordered,
    errors: [404, 409],
    answer: async (asked) => {
      const dropped = asked.desk.dropDeadLetter(asked.params['id']!, await byIn(asked))
      return ok(await given(dropped))
    },
  }),
]
