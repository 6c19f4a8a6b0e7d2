import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import type { LocalDesk } from './local-desk.ts'
import { acceptedOf, bodyTypeOf } from './media-type.ts'
import type { Metrics } from './metrics.ts'
import { bodyChunks, wholeBody } from './request-body.ts'
import { queryOf } from './request-query.ts'
import type { Asked, Route } from './routes/route.ts'

export interface Limits {
  /** Of a JSON, YAML or text body. */
  readonly bodyBytesMax: number
  /** Without a byte of a body that is due. */
  readonly bodySilenceMaxMs: number
}

export interface Turn {
  readonly desk: LocalDesk
  readonly limits: Limits
  readonly metrics: Metrics
  readonly stopping: AbortSignal
}

/** A stream of events whose other end takes nothing for so long is ended. */
const streamSilenceMaxMs = 120_000

/** From a request of a route to its answer. */
export const answering =
  ({ desk, limits, metrics, stopping }: Turn) =>
  async (route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const startedAt = performance.now()
    const gone = new AbortController()
    const leave = () => {
      gone.abort()
    }
    reply.raw.once('close', () => {
      stopping.removeEventListener('abort', leave)
      leave()
      const seconds = (performance.now() - startedAt) / 1000
      metrics.observeRequest(request.method, route.path, reply.raw.statusCode, seconds)
    })
    stopping.addEventListener('abort', leave)
    if (stopping.aborted) {
      void reply.header('connection', 'close')
      throw new HttpError(503, 'stopping', 'the system is stopping', 'send again when it runs')
    }
    const { status, type, body } = await route.answer(askedOf(route, request, { desk, limits, signal: gone.signal }))
    if (isStopping(stopping)) void reply.header('connection', 'close')
    void reply.code(status).type(type).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    if (isStream(body)) {
      request.raw.socket.setTimeout(streamSilenceMaxMs, () => request.raw.socket.destroy())
      return reply.send(Readable.from(body))
    }
    return reply.send(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** It may have begun while the answer was worked out. */
const isStopping = (signal: AbortSignal): boolean => signal.aborted

const isStream = (body: unknown): body is AsyncIterable<string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

const askedOf = (
  route: Route,
  { headers, params, raw }: FastifyRequest,
  { desk, limits, signal }: Pick<Turn, 'desk' | 'limits'> & { readonly signal: AbortSignal },
): Asked<unknown> => {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (route.body === undefined && hasBody)
    throw new HttpError(400, 'invalid', 'no body belongs here', 'send the request without one')
  const last = headers['last-event-id']
  return {
    desk,
    params: params as Asked<unknown>['params'],
    query: queryOf(raw.url ?? '', route.query),
    type:
      route.body === undefined
        ? ''
        : bodyTypeOf(headers['content-type'], headers['content-encoding'], Object.keys(route.body.types)),
    body: () => wholeBody(raw, limits.bodyBytesMax, limits.bodySilenceMaxMs),
    chunks: () => bodyChunks(raw, limits.bodySilenceMaxMs),
    lastEventId: typeof last === 'string' && /^\d{1,15}$/.test(last) ? Number(last) : null,
    accepts: (types) => acceptedOf(headers.accept, types),
    signal,
  }
}
