import { record } from '../../../domain/kernel/document.ts'
import { holdOrderedSchema, orderedSchema } from '../schemas.ts'
import {
  byOf,
  given,
  jsonType,
  noQuery,
  objectIn,
  objectSchema,
  ok,
  orderer,
  route,
  type Asked,
  type Route,
} from './route.ts'

const by = record(orderer)

/** A body that says whose word an order is, and may be left out. */
export const byBody = { types: { [jsonType]: objectSchema(by) }, optional: true } as const
export const byIn = async (asked: Asked<unknown>) => byOf(await objectIn(asked, by))

const answered = { cancel: orderedSchema, hold: holdOrderedSchema, release: holdOrderedSchema } as const

/** An order about one workload: it is recorded, or it was so already. */
export const workloadOrder = (
  verb: 'cancel' | 'hold' | 'release',
  says: { readonly summary: string; readonly repeated: string; readonly done: string },
): Route =>
  route({
    method: 'POST',
    path: `/v1/workloads/:id/${verb}`,
    tag: 'workloads',
    summary: says.summary,
    params: { id: 'name of the workload' },
    query: noQuery,
    body: byBody,
    answers: {
      200: { description: says.repeated, content: { [jsonType]: answered[verb] } },
      202: { description: says.done, content: { [jsonType]: answered[verb] } },
    },
    errors: [404, 409],
    answer: async (asked) => {
      const answer = await given(asked.desk[verb](asked.params['id']!, await byIn(asked)))
      return ok(answer, answer.outcome === 'recorded' ? 202 : 200)
    },
  })
