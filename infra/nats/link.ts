import { readFileSync } from 'node:fs'
import { either as E, type taskEither as TE } from 'fp-ts'
import {
  connect,
  credsAuthenticator,
  ErrorCode,
  Events,
  headers as newHeaders,
  NatsError,
  nkeyAuthenticator,
  type ConnectionOptions,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import { faultOf, isCode } from './fault.ts'
import { describePlace, type NatsPlace } from './place.ts'
import { objectionTo, streamConfig, streamName, type StreamKind } from './streams.ts'
import { subjectOf } from './subject.ts'

export interface LinkOptions {
  /** Told when the connection is lost or not ours, or something is forbidden; with null when it stands again. */
  readonly told?: (fault: BusUnavailable | null) => void
  /** How long the server remembers ids, of streams that are made now. */
  readonly duplicateMs?: number
}

const reconnectWaitMs = 250
const reconnectJitterMs = 250
const publishAttemptsMax = 3
/** A server that is not ours is left, and looked for again after so long. */
const otherServerWaitMs = 1_000

/** The connection to the servers of one place. It is made again for as long as nobody closes it. */
export class NatsLink {
  readonly place: NatsPlace
  readonly connection: NatsConnection
  readonly jetStream: JetStreamClient
  readonly manager: JetStreamManager
  private readonly options: LinkOptions
  private lost: BusUnavailable | null = null
  private closing = false
  private readonly ensured = new Map<StreamKind, Promise<void>>()

  private constructor(place: NatsPlace, connection: NatsConnection, manager: JetStreamManager, options: LinkOptions) {
    this.place = place
    this.connection = connection
    this.manager = manager
    this.options = options
    this.jetStream = connection.jetstream({ timeout: place.timeoutMs })
    void this.watch()
  }

  static open(place: NatsPlace, options: LinkOptions = {}): TE.TaskEither<BusUnavailable, NatsLink> {
    return async () => {
      let connection: NatsConnection | null = null
      try {
        connection = await connect(connectionOptions(place))
        const other = otherServer(place, connection)
        if (other !== null) {
          await connection.close()
          return E.left(other)
        }
        // Who may only take commands may not ask what else there is.
        const manager = await connection.jetstreamManager({ checkAPI: false, timeout: place.timeoutMs })
        return E.right(new NatsLink(place, connection, manager, options))
      } catch (cause) {
        await connection?.close()
        return E.left(faultOf(place, cause))
      }
    }
  }

  /** Why nothing can be sent or taken just now; null: it can. */
  get fault(): BusUnavailable | null {
    return this.lost
  }

  subject(...names: ReadonlyArray<string>): string {
    return subjectOf(this.place.prefix, ...names)
  }

  /** Kept by the stream when it is right; the same id again, while the server remembers it, is a duplicate. */
  async publish(
    kind: StreamKind,
    subject: string,
    id: string,
    body: string | Uint8Array,
    headers: { readonly [name: string]: string } = {},
  ): Promise<E.Either<BusUnavailable, 'sent' | 'duplicate'>> {
    let fault: BusUnavailable | null = null
    for (let attempt = 0; attempt < publishAttemptsMax; attempt++) {
      if (this.lost !== null) return E.left(this.lost)
      try {
        await this.ensure(kind)
        const head = newHeaders()
        for (const [name, value] of Object.entries(headers)) head.set(name, value)
        const { duplicate } = await this.jetStream.publish(subject, body, { msgID: id, headers: head })
        return E.right(duplicate ? 'duplicate' : 'sent')
      } catch (cause) {
        fault = faultOf(this.place, cause)
        // The stream may have been deleted since: it is made again.
        if (isGone(cause)) this.ensured.delete(kind)
        else if (fault.kind !== 'unreachable') return E.left(fault)
      }
    }
    return E.left(fault!)
  }

  /** Makes the stream where there is none. @throws what the client throws, and why the one that is there will not do */
  ensure(kind: StreamKind): Promise<void> {
    const known = this.ensured.get(kind)
    if (known !== undefined) return known
    const ensuring = this.ensureNow(kind)
    this.ensured.set(kind, ensuring)
    ensuring.catch(() => this.ensured.delete(kind))
    return ensuring
  }

  /** What was found there is looked at anew. */
  forget(kind: StreamKind): void {
    this.ensured.delete(kind)
  }

  async close(): Promise<void> {
    this.closing = true
    await this.connection.close()
  }

  private async ensureNow(kind: StreamKind): Promise<void> {
    const { place } = this
    const name = streamName(place, kind)
    let config
    try {
      config = (await this.manager.streams.info(name)).config
    } catch (cause) {
      if (!(cause instanceof NatsError) || cause.api_error?.err_code !== streamNotFound) throw cause
      config = (await this.manager.streams.add(streamConfig(place, kind, this.options.duplicateMs))).config
    }
    const objection = objectionTo(place, kind, config)
    if (objection !== null) throw new Error(`the stream ${name} is of no use: ${objection}`)
  }

  private async watch(): Promise<void> {
    for await (const { data, type, ...rest } of this.connection.status()) {
      const said: unknown = data
      if (type === Events.Disconnect) this.tell(faultOf(this.place, new Error('the connection is lost')))
      else if (type === Events.Reconnect) this.seen()
      else if (type === Events.Error && said === ErrorCode.PermissionsViolation) this.tellViolation(rest)
    }
    if (!this.closing) this.tell(faultOf(this.place, new NatsError('closed', ErrorCode.ConnectionClosed)))
  }

  /** Whatever answers at the old address may be another server. */
  private seen(): void {
    this.ensured.clear()
    const other = otherServer(this.place, this.connection)
    this.tell(other)
    if (other === null) return
    setTimeout(() => {
      if (!this.closing) this.connection.reconnect().catch(() => undefined)
    }, otherServerWaitMs).unref()
  }

  /** It is told, and nothing is stopped for it: what was forbidden fails by itself, and everything else goes on. */
  private tellViolation(rest: object): void {
    const error = new NatsError('', ErrorCode.PermissionsViolation)
    const { permissionContext } = rest as Partial<NatsError>
    if (permissionContext !== undefined) error.permissionContext = permissionContext
    this.options.told?.(faultOf(this.place, error))
  }

  private tell(fault: BusUnavailable | null): void {
    this.lost = fault
    this.options.told?.(fault)
  }
}

const streamNotFound = 10_059

const isGone = (cause: unknown): boolean =>
  isCode(cause, ErrorCode.NoResponders) && (cause as NatsError).api_error === undefined

const otherServer = (place: NatsPlace, { info }: NatsConnection): BusUnavailable | null => {
  const name = info?.server_name ?? ''
  if (place.names.length === 0 || place.names.includes(name)) return null
  return {
    type: 'BusUnavailable',
    kind: 'other-server',
    reason: `${describePlace(place)}: the server there is named ${name}, not ${place.names.join(' or ')}`,
    mend: 'see which server listens there, and give ours a port of its own',
  }
}

const connectionOptions = (place: NatsPlace): ConnectionOptions => {
  const { caFile, certFile, credsFile, keyFile, nkeyFile, passwordFile, servers, timeoutMs, tls, user } = place
  const password = passwordFile === null ? place.password : readFileSync(passwordFile, 'utf8').trim()
  return {
    servers: [...servers],
    name: 'leasehold',
    timeout: timeoutMs,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    reconnectJitter: reconnectJitterMs,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    ...(user !== null && { user, pass: password ?? '' }),
    ...(nkeyFile !== null && { authenticator: nkeyAuthenticator(Buffer.from(readFileSync(nkeyFile, 'utf8').trim())) }),
    ...(credsFile !== null && { authenticator: credsAuthenticator(readFileSync(credsFile)) }),
    ...(tls && {
      tls: { ...(caFile !== null && { caFile }), ...(certFile !== null && { certFile, keyFile: keyFile! }) },
    }),
  }
}
