import { either as E } from 'fp-ts'
import type { Json } from '../../../domain/kernel/canonical-json.ts'
import {
  flag,
  name,
  needed,
  Objection,
  oneOf,
  optional,
  record,
  scalar,
  wholeNumber,
  type Reader,
} from '../../../domain/kernel/document.ts'
import type { JsonSchema } from '../../../domain/kernel/json-schema.ts'
import { found } from '../../../domain/kernel/wording.ts'
import { nodeDevicesMax } from '../../../domain/planner/cell-event.codec.ts'
import type { CellDecision, NodeHealth } from '../../../domain/planner/cell-event.ts'
import { policySchema } from '../../../domain/policy/allocation-policy.codec.ts'
import { decisionTypeNamed, decisionTypeNear, decisionTypes } from '../decision-types.ts'
import { exceptionBody, exceptionOrderedSchema, policyAnswerSchema, policyOrderedSchema } from '../policy-schemas.ts'
import { eventsSchema, fleetSchema, orderedSchema, queueSchema } from '../schemas.ts'
import { byBody, byIn } from './order.ts'
import {
  asOf,
  byOf,
  count,
  documentIn,
  given,
  jsonType,
  objectIn,
  objectSchema,
  ok,
  orderer,
  route,
  yamlType,
  type Route,
} from './route.ts'

const rowsMax = 10_000_000
const limitDefault = 50

const decisionType: Reader<CellDecision['type']> = scalar(
  `one of ${decisionTypes.join(', ')}`,
  { type: 'string', description: `${decisionTypes.join(', ')}, or what tables call them, such as Held; in any case` },
  (value) => {
    const type = typeof value === 'string' ? decisionTypeNamed(value) : null
    if (type !== null) return type
    const meant = typeof value === 'string' ? decisionTypeNear(value) : null
    return new Objection(`found ${found(value)}`, meant === null ? undefined : `did you mean ${meant}?`)
  },
)

const health = record({
  health: needed(oneOf<NodeHealth>(['ready', 'cordoned', 'draining', 'failed'])),
  device: optional(wholeNumber(0, nodeDevicesMax - 1), null),
  ...orderer,
})
const freeze = record({ frozen: needed(flag), pool: optional(name, null), ...orderer })

const recordedAs = (schema: JsonSchema) => ({
  200: { description: 'Recorded, or so already', content: { [jsonType]: schema } },
})
const ordered = recordedAs(orderedSchema)
/** Taken as it stands: the desk decodes it, and says what is wrong. */
const asItIs = (value: unknown) => E.right(value as Json)

const questions: ReadonlyArray<Route> = [
  route({
    method: 'GET',
    path: '/v1/queue',
    tag: 'fleet',
    summary: 'What waits, in order, and the reason of each',
    query: record({
      queue: optional(name, null),
      limit: optional(count(0, rowsMax), limitDefault),
      at: optional(asOf, null),
    }),
    answers: { 200: { description: 'So many of each queue; 0: all', content: { [jsonType]: queueSchema } } },
    errors: [404],
    answer: async ({ desk, query: { at, limit, queue } }) => ok(await given(desk.queue(queue, limit, at))),
  }),
  route({
    method: 'GET',
    path: '/v1/fleet',
    tag: 'fleet',
    summary: 'Every node, its devices and what is free, and the sums',
    query: record({ at: optional(asOf, null) }),
    answers: { 200: { description: 'In order of registration', content: { [jsonType]: fleetSchema } } },
    errors: [],
    answer: async ({ desk, query }) => ok(await given(desk.fleet(query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/policy',
    tag: 'fleet',
    summary: 'The policy in force, what it grants to whom until when, and what is made of that',
    query: record({ at: optional(asOf, null) }),
    answers: { 200: { description: 'With the document itself', content: { [jsonType]: policyAnswerSchema } } },
    errors: [409],
    answer: async ({ desk, query }) => ok(await given(desk.policy(query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/decisions',
    tag: 'fleet',
    summary: 'What was decided, each with its rule and its numbers',
    query: record({
      type: optional(decisionType, null),
      workload: optional(name, null),
      limit: optional(count(0, rowsMax), limitDefault),
      at: optional(asOf, null),
    }),
    answers: {
      200: { description: 'So many of the newest, the newest last; 0: all', content: { [jsonType]: eventsSchema } },
    },
    errors: [],
    answer: async ({ desk, query }) => ok(await given(desk.decisions(query))),
  }),
]

const orders: ReadonlyArray<Route> = [
  route({
    method: 'POST',
    path: '/v1/nodes/:node/health',
    tag: 'fleet',
    summary: 'Takes a node, or one of its devices, out of use, or lets it in again',
    params: { node: 'name of the node' },
    query: record({}),
    body: { types: { [jsonType]: objectSchema(health) } },
    answers: ordered,
    errors: [404, 409],
    answer: async (asked) => {
      const { device, health: wanted, ...by } = await objectIn(asked, health)
      return ok(await given(asked.desk.setHealth(asked.params['node']!, device, wanted, byOf(by))))
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy',
    tag: 'fleet',
    summary: 'Puts a policy into force; what was granted before holds on',
    query: record(orderer),
    body: { types: { [jsonType]: policySchema, [yamlType]: policySchema } },
    answers: recordedAs(policyOrderedSchema),
    errors: [409],
    answer: async (asked) => {
      const document = await documentIn<Json>(asked, asItIs)
      return ok(await given(asked.desk.activatePolicy(document, byOf(asked.query))))
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy/exceptions',
    tag: 'fleet',
    summary: 'Puts the policy into force with one exception more, which has to expire',
    query: record(orderer),
    body: { types: { [jsonType]: exceptionBody, [yamlType]: exceptionBody } },
    answers: recordedAs(exceptionOrderedSchema),
    errors: [409],
    answer: async (asked) => {
      const exception = await documentIn<Json>(asked, asItIs)
      return ok(await given(asked.desk.grantException(exception, byOf(asked.query))))
    },
  }),
  route({
    method: 'POST',
    path: '/v1/policy/exceptions/:name/revoke',
    tag: 'fleet',
    summary: 'Puts the policy into force without one of its exceptions',
    params: { name: 'name of the exception' },
    query: record({}),
    body: byBody,
    answers: ordered,
    errors: [404, 409],
    answer: async (asked) => ok(await given(asked.desk.revokeException(asked.params['name']!, await byIn(asked)))),
  }),
  route({
    method: 'POST',
    path: '/v1/freeze',
    tag: 'fleet',
    summary: 'Stops decisions and commands, of one pool or all; or lets them go again',
    query: record({}),
    body: { types: { [jsonType]: objectSchema(freeze) } },
    answers: ordered,
    errors: [409],
    answer: async (asked) => {
      const { frozen, pool, ...by } = await objectIn(asked, freeze)
      return ok(await given(asked.desk.freeze(pool, frozen, byOf(by))))
    },
  }),
]

export const fleetRoutes: ReadonlyArray<Route> = [...questions, ...orders]
