import { either as E } from 'fp-ts'
import { optional, record } from '../../../domain/kernel/document.ts'
import { intentSchema } from '../../../domain/workload/intent.codec.ts'
import type { WorkloadIntent } from '../../../domain/workload/intent.ts'
import { readIntents } from '../../../infra/yaml/intents.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { invalid } from '../http-error.ts'
import { eventsSchema, plainText, planSchema, stateSchema, submittedSchema, whySchema } from '../schemas.ts'
import { workloadOrder } from './order.ts'
import {
  asOf,
  byOf,
  given,
  jsonType,
  noQuery,
  ok,
  orderer,
  refuseBadJson,
  route,
  textType,
  yamlType,
  type Asked,
  type Route,
} from './route.ts'

const tag = 'workloads'
const workload = { id: 'name of the workload' }
const atQuery = record({ at: optional(asOf, null) })

/** One document, or several: after `---` in YAML, as a list in JSON. */
const intentsBody = {
  types: {
    [jsonType]: { anyOf: [intentSchema, { type: 'array', items: intentSchema, minItems: 1 }] },
    [yamlType]: intentSchema,
  },
}

const intentsIn = async ({ body, type }: Asked<unknown>): Promise<ReadonlyArray<WorkloadIntent>> => {
  const bytes = await body()
  if (type === jsonType) refuseBadJson(bytes)
  const read = readIntents(bytes)
  if (E.isLeft(read)) throw invalid(read.left)
  return read.right
}

const submitted = { [jsonType]: submittedSchema }

export const workloadRoutes: ReadonlyArray<Route> = [
  route({
    method: 'POST',
    path: '/v1/workloads',
    tag,
    summary: 'Submits workloads: all of them, or none',
    query: record(orderer),
    body: intentsBody,
    answers: {
      200: { description: 'All of them wait or run already', content: submitted },
      202: { description: 'Recorded; each with its position in the log', content: submitted },
    },
    errors: [409],
    answer: async (asked) => {
      const answer = await given(asked.desk.submit(await intentsIn(asked), byOf(asked.query)))
      return ok(answer, answer.some(({ outcome }) => outcome === 'recorded') ? 202 : 200)
    },
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id',
    tag,
    summary: 'Where a workload has got to',
    params: workload,
    query: noQuery,
    answers: { 200: { description: 'Its state', content: { [jsonType]: stateSchema } } },
    errors: [404],
    answer: async ({ desk, params }) => ok(await given(desk.state(params['id']!))),
  }),
  workloadOrder('cancel', {
    summary: 'Ends a workload, whether it waits or runs',
    repeated: 'That was ordered before',
    done: 'Recorded; what runs is asked to stop',
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id/why',
    tag,
    summary: 'Why a workload waits and when it should start, or where it runs',
    params: workload,
    query: atQuery,
    answers: {
      200: {
        description: 'The reason with its numbers; as text, what `leasehold why` prints',
        content: { [jsonType]: whySchema, [textType]: plainText },
      },
    },
    errors: [404],
    answer: async ({ accepts, desk, params, query }) => {
      const why = await given(desk.why(params['id']!, query.at))
      const type = accepts([jsonType, textType])
      return { status: 200, type, body: type === textType ? whyText(why) : why }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id/log',
    tag,
    summary: 'Everything that happened to a workload',
    params: workload,
    query: atQuery,
    answers: { 200: { description: 'Its events, in order', content: { [jsonType]: eventsSchema } } },
    errors: [404],
    answer: async ({ desk, params, query }) => ok(await given(desk.life(params['id']!, query.at))),
  }),
  route({
    method: 'POST',
    path: '/v1/plan',
    tag,
    summary: 'Where and when workloads would run if each were submitted now, alone; nothing is changed',
    query: atQuery,
    body: intentsBody,
    answers: { 200: { description: 'A plan for each, in order', content: { [jsonType]: planSchema } } },
    errors: [409],
    answer: async (asked) => ok(await given(asked.desk.plan(await intentsIn(asked), asked.query.at))),
  }),
]
