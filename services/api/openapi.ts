import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import type { Answers, Route } from './routes/route.ts'
import { errorSchema } from './schemas.ts'

const descriptionOf: { readonly [status: number]: string } = {
  400: 'What was sent is not valid: every fault, with its place',
  403: 'From a page or a host that may not ask here',
  404: 'There is nothing of that name',
  408: 'The body stayed away too long',
  409: 'Understood, and not done: the reason, and what to do instead',
  413: 'The body is too large',
  415: 'The body is of another type than those that are taken here',
  422: 'The query takes more than it may',
  500: 'A fault of Leasehold itself; its log says more',
  503: 'The log or the views cannot be used now: which, why, and what mends it',
}
const always = [400, 403, 500, 503]
const withBody = [408, 413, 415]

/** Statuses of errors that a route may answer, in order. */
export const errorsOf = ({ body, errors }: Route): ReadonlyArray<number> =>
  [...always, ...(body === undefined ? [] : withBody), ...errors].sort((a, b) => a - b)

/** Has to come before the routes; `instance.swagger()` gives the document when all is there. */
export const registerOpenApi = (instance: FastifyInstance, version: string): void => {
  instance.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Leasehold',
        version,
        description:
          'Orders and questions to Leasehold. Times are in milliseconds since 1970, GPU in thousandths of a device, memory in MiB.',
      },
      components: { schemas: { Error: errorSchema as object } },
    },
  })
}

/** What a route says of itself, for the document alone: bodies and answers are checked and written elsewhere. */
export const documentedAs = (route: Route): object => {
  const { answers, body, params, query, summary, tag } = route
  const content = (types: { readonly [type: string]: JsonSchema }) =>
    Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }]))
  const asked = query.schema.properties ?? {}
  return {
    summary,
    tags: [tag],
    operationId: operationOf(route),
    ...(params === undefined
      ? {}
      : {
          params: {
            type: 'object',
            required: Object.keys(params),
            properties: Object.fromEntries(
              Object.entries(params).map(([name, description]) => [name, { type: 'string', description }]),
            ),
          },
        }),
    ...(Object.keys(asked).length === 0 ? {} : { querystring: query.schema }),
    ...(body === undefined ? {} : { body: { content: content(body.types) } }),
    response: {
      ...Object.fromEntries(
        errorsOf(route).map((status) => [
          status,
          {
            description: descriptionOf[status]!,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(answers as { readonly [status: string]: Answers[number] }).map(
          ([status, { content: types, description }]) => [status, { description, content: content(types) }],
        ),
      ),
    },
  }
}

/** `getWorkloadsWhy` */
const operationOf = ({ method, path }: Route): string =>
  method.toLowerCase() +
  path
    .replace(/^\/v1/, '')
    .split(/[/.]/)
    .filter((part) => part !== '' && !part.startsWith(':'))
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join('') +
  (path.endsWith('/:id') ? 'One' : '')
