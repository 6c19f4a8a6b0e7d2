import { name, needed, oneOf, optional, record } from '../../../domain/kernel/document.ts'
import {
  drillOrderedSchema,
  drillsSchema,
  positionSchema,
  prioSchema,
  shareSchema,
  whyPreemptedSchema,
} from '../budget-schemas.ts'
import { workloadOrder } from './order.ts'
import {
  asOf,
  byOf,
  count,
  given,
  jsonType,
  noQuery,
  objectIn,
  objectSchema,
  ok,
  orderer,
  printable,
  route,
  type Route,
} from './route.ts'

const tag = 'budgets'
const workload = { id: 'name of the workload' }
const atQuery = record({ at: optional(asOf, null) })
const aheadDefault = 50
const aheadMost = 10_000

const pathLengthMax = 1_000
const nodePath = printable('a path in the budget tree, such as research/vision', pathLengthMax)

const drill = record({
  team: needed(name),
  family: optional(name, null),
  outcome: needed(oneOf<'passed' | 'failed'>(['passed', 'failed'])),
  ...orderer,
})

export const budgetRoutes: ReadonlyArray<Route> = [
  workloadOrder('hold', {
    summary: 'Lets a workload wait, whatever is free, until it is released',
    repeated: 'It is on hold already',
    done: 'Recorded; what runs (`runs`) goes on, and does not start again once it is stopped',
  }),
  workloadOrder('release', {
    summary: 'Lets a workload that was put on hold wait for its turn again',
    repeated: 'It was not on hold',
    done: 'Recorded; what runs (`runs`) may start again once it is stopped',
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id/position',
    tag,
    summary: 'Who goes before a workload, and whose they are',
    params: workload,
    query: record({ limit: optional(count(0, aheadMost), aheadDefault), at: optional(asOf, null) }),
    answers: { 200: { description: 'The first of them, and how many', content: { [jsonType]: positionSchema } } },
    errors: [404, 409],
    answer: async ({ desk, params, query }) => ok(await given(desk.position(params['id']!, query.limit, query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id/prio',
    tag,
    summary: 'Whose turn it is, level by level of the budget tree down to a workload that waits',
    params: workload,
    query: atQuery,
    answers: { 200: { description: 'The factors that are compared', content: { [jsonType]: prioSchema } } },
    errors: [404, 409],
    answer: async ({ desk, params, query }) => ok(await given(desk.prio(params['id']!, query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/workloads/:id/why-preempted',
    tag,
    summary: 'Each time a workload made room for others, for whom and why, and what came of it',
    params: workload,
    query: atQuery,
    answers: { 200: { description: 'Oldest first; none: it never did', content: { [jsonType]: whyPreemptedSchema } } },
    errors: [404],
    answer: async ({ desk, params, query }) => ok(await given(desk.whyPreempted(params['id']!, query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/share',
    tag,
    summary: 'What each node of the budget tree is entitled to, was owed, was charged and got',
    query: record({ node: optional(nodePath, null), at: optional(asOf, null) }),
    answers: {
      200: { description: 'Parents first; of one node, with what is below', content: { [jsonType]: shareSchema } },
    },
    errors: [404, 409],
    answer: async ({ desk, query }) => ok(await given(desk.share(query.node, query.at))),
  }),
  route({
    method: 'GET',
    path: '/v1/drills',
    tag,
    summary: 'What the newest drill of each team and model family showed',
    query: atQuery,
    answers: { 200: { description: 'By team and family', content: { [jsonType]: drillsSchema } } },
    errors: [],
    answer: async ({ desk, query }) => ok(await given(desk.drills(query.at))),
  }),
  route({
    method: 'POST',
    path: '/v1/drills',
    tag,
    summary: 'Says that work of a team was seen to go on from a checkpoint, or not to',
    query: noQuery,
    body: { types: { [jsonType]: objectSchema(drill) } },
    answers: { 202: { description: 'Recorded', content: { [jsonType]: drillOrderedSchema } } },
    errors: [409],
    answer: async (asked) => {
      const { family, outcome, team, ...by } = await objectIn(asked, drill)
      return ok(await given(asked.desk.concludeDrill({ modelFamily: family, outcome, team }, byOf(by))), 202)
    },
  }),
]
