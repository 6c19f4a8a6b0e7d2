import type { AddressInfo, Socket } from 'node:net'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { either as E, taskEither as TE } from 'fp-ts'
import type { Logger } from 'pino'
import { nearest } from '../../domain/kernel/wording.ts'
import { Connections } from './connections.ts'
import type { FactsAnswer } from './desk.ts'
import { HttpError } from './http-error.ts'
import type { LocalDesk } from './local-desk.ts'
import { Metrics } from './metrics.ts'
import { documentedAs, registerOpenApi } from './openapi.ts'
import { drained } from './request-body.ts'
import { objectionTo } from './request-guard.ts'
import { answering, type Limits } from './request-turn.ts'
import { factRoutes } from './routes/facts.ts'
import { budgetRoutes } from './routes/budgets.ts'
import { fleetRoutes } from './routes/fleet.ts'
import type { Route } from './routes/route.ts'
import { systemRoutes } from './routes/system.ts'
import { viewRoutes } from './routes/views.ts'
import { workloadRoutes } from './routes/workloads.ts'

/** Bounds of what a client may do to a server. Times in ms, sizes in bytes. */
export interface ServerLimits extends Limits {
  /** Until a request's header is there. */
  readonly headerTimeMaxMs: number
  readonly headerBytesMax: number
  readonly connectionsMax: number
  readonly eventStreamsMax: number
  /** For what is in hand when the server stops. */
  readonly stopTimeMaxMs: number
}

export const defaultLimits: ServerLimits = {
  bodyBytesMax: 1_048_576,
  bodySilenceMaxMs: 30_000,
  headerTimeMaxMs: 30_000,
  headerBytesMax: 16_384,
  connectionsMax: 1_024,
  eventStreamsMax: 16,
  stopTimeMaxMs: 10_000,
}

export interface ServerOptions {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Names that a request may give as its host, beside the loopback's own: `fleet.example.com`, `10.0.0.7`. */
  readonly hosts: ReadonlyArray<string>
  readonly version: string
  /** Why it is not ready: starting, stopping, a log that fails ...; empty: it is. */
  readonly unready: () => ReadonlyArray<string>
  readonly limits?: Partial<ServerLimits>
  readonly metrics?: Metrics
  /** Told of faults of our own and of the server's beginning and end; never of what is in a request. */
  readonly logger?: Pick<Logger, 'info' | 'error'>
}

export interface RunningServer {
  /** `http://127.0.0.1:8410` */
  readonly address: string
  /** Takes nothing new, finishes what is in hand, and ends what does not end in time. */
  readonly stop: () => Promise<void>
}

/** All but that of the system itself, whose figures each server has of its own. */
const deskRoutes: ReadonlyArray<Route> = [
  ...workloadRoutes,
  ...budgetRoutes,
  ...fleetRoutes,
  ...factRoutes,
  ...viewRoutes,
]

/** Listens; rejects with the reason where it cannot. */
export const startServer = async (desk: LocalDesk, options: ServerOptions): Promise<RunningServer> => {
  const { host, logger, metrics = new Metrics(), port, unready, version } = options
  const limits = { ...defaultLimits, ...options.limits }
  const stopping = new AbortController()
  const isStopping = () => stopping.signal.aborted
  const instance = newInstance(limits)
  const connections = new Connections(instance.server)
  const system = systemRoutes({
    unready: () => [...(isStopping() ? ['it is stopping'] : []), ...unready()],
    metrics: async () => {
      const status = await desk.status()()
      return E.isLeft(status) ? metrics.registry.metrics() : metrics.text(status.right, desk.follower)
    },
    openApi: () => instance.swagger(),
    eventStreamsMax: limits.eventStreamsMax,
  })
  const routes = [...deskRoutes, ...system]
  const hosts = new Set([host, ...options.hosts].map((name) => hostName(name)))
  guard(instance, hosts)
  registerOpenApi(instance, version)
  const answer = answering({ desk: counted(desk, metrics), limits, metrics, stopping: stopping.signal })
  instance.register((inner, _, done) => {
    for (const each of routes)
      inner.route({
        method: each.method,
        url: each.path,
        schema: documentedAs(each),
        exposeHeadRoute: each.method === 'GET' && each.path !== '/v1/events',
        handler: (request, reply) => answer(each, request, reply),
      })
    done()
  })
  tellErrors(instance, routes, logger)
  await instance.listen({ host, port })
  const { port: taken } = instance.server.address() as AddressInfo
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${taken}`
  logger?.info({ address }, 'listening')
  return {
    address,
    stop: async () => {
      if (isStopping()) return
      stopping.abort()
      await connections.close(limits.stopTimeMaxMs)
      await instance.close()
      logger?.info({ address }, 'stopped')
    },
  }
}

/** The same desk; what becomes of the facts that are sent to it is counted. */
const counted = (desk: LocalDesk, metrics: Metrics): LocalDesk => ({
  ...desk,
  facts: (lines) =>
    TE.map((answer: FactsAnswer) => {
      metrics.countFacts(answer)
      return answer
    })(desk.facts(lines)),
})

const hostName = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase()

const newInstance = (limits: ServerLimits): FastifyInstance => {
  const instance = fastify({
    logger: false,
    requestTimeout: 0, // An upload of facts may take as long as it likes, as long as something comes.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.headerBytesMax, querystringParser: () => ({}) },
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headerTimeMaxMs,
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(limits.headerTimeMaxMs / 2)),
    },
    clientErrorHandler: (error, socket) => {
      tellClientError(error, socket)
    },
    frameworkErrors: (_, request, reply) => {
      const error = new HttpError(
        400,
        'invalid',
        'the path cannot be read',
        'write % only before two hexadecimal digits',
      )
      void refuse(error, request, reply)
    },
  })
  instance.server.maxConnections = limits.connectionsMax
  instance.setValidatorCompiler(() => () => true)
  instance.setSerializerCompiler(() => (value) => JSON.stringify(value))
  // Bodies are read where they are needed, with their own limits.
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('*', (_request, _payload, done) => {
    done(null)
  })
  return instance
}

const guard = (instance: FastifyInstance, hosts: ReadonlySet<string>): void => {
  instance.addHook('onRequest', (request, _, done) => {
    done(objectionTo(request.raw, hosts) ?? undefined)
  })
}

const tellErrors = (instance: FastifyInstance, routes: ReadonlyArray<Route>, logger: ServerOptions['logger']): void => {
  instance.setErrorHandler(async (cause, request, reply) => {
    if (cause instanceof HttpError) return refuse(cause, request, reply)
    const status = cause instanceof Error && 'statusCode' in cause ? Number(cause.statusCode) : 500
    if (status === 415)
      return refuse(
        new HttpError(415, 'wrong-type', 'the content-type cannot be read', 'say what the body is'),
        request,
        reply,
      )
    if (status === 413)
      return refuse(
        new HttpError(413, 'too-large', 'the body is too large', 'make it shorter, or split it'),
        request,
        reply,
      )
    if (status >= 400 && status < 500)
      return refuse(new HttpError(status, 'invalid', 'the request cannot be read', 'send it anew'), request, reply)
    logger?.error({ err: cause, method: request.method, route: request.routeOptions.url }, 'a fault of our own')
    const mend = 'try again; if it stays, tell us, with what the log of the process says'
    return refuse(new HttpError(500, 'internal', 'a fault of Leasehold itself', mend), request, reply)
  })
  instance.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const methods = [...new Set(routes.filter((route) => isAt(route.path, path)).map(({ method }) => method))]
    if (methods.length > 0) {
      const allow = methods.includes('GET') ? [...methods, 'HEAD'].join(', ') : methods.join(', ')
      const reason = `${request.method} is not answered here`
      return refuse(new HttpError(405, 'wrong-method', reason, `use ${allow}`, { headers: { allow } }), request, reply)
    }
    const meant = nearest(
      path,
      routes.map((route) => route.path),
    )
    const mend = meant === null ? 'see /openapi.json for what there is' : `did you mean ${meant}?`
    return refuse(new HttpError(404, 'unknown-path', 'there is nothing at this path', mend), request, reply)
  })
}

const isAt = (pattern: string, path: string): boolean => {
  const wanted = pattern.split('/')
  const parts = path.split('/')
  return (
    wanted.length === parts.length &&
    wanted.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]))
  )
}

/** Answers with the error when the body is through, or the client sends on and on: then the connection ends with it. */
const refuse = async (error: HttpError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const whole = await drained(request.raw)
  if (!whole) void reply.header('connection', 'close')
  return reply.code(error.status).headers(error.headers).type('application/json').send(error.body)
}

const clientErrors: { readonly [code: string]: HttpError } = {
  HPE_HEADER_OVERFLOW: new HttpError(431, 'too-large', 'the header is too large', 'send fewer or shorter headers'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'slow', 'the header did not come in time', 'send it at once'),
}
const badRequest = new HttpError(400, 'invalid', 'this is not HTTP that can be read', 'send a valid HTTP/1.1 request')

/** Before there is a request to answer. */
const tellClientError = (error: Error & { readonly code?: string }, socket: Socket): void => {
  const inHand = (socket as Socket & { readonly _httpMessage?: { readonly headersSent: boolean } | null })._httpMessage
  if (error.code === 'ECONNRESET' || !socket.writable || inHand?.headersSent === true) {
    socket.destroy()
    return
  }
  const { body, status } = clientErrors[error.code ?? ''] ?? badRequest
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${status === 408 ? 'Request Timeout' : 'Bad Request'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}
