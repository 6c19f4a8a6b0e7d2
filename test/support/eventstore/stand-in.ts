import { setTimeout as sleep } from 'node:timers/promises'
import { appendBytesMax, KeptStreams, type Appended, type Expected, type Proposed } from './kept-streams.ts'
import {
  Any,
  features,
  featuresGrpc,
  GoogleEmpty,
  gossip,
  gossipGrpc,
  grpc,
  rpcStatus,
  shared,
  streams,
  streamsGrpc,
  type Gossip,
  type GrpcMetadata,
  type GrpcServer,
  type Streams,
  type StreamsGrpc,
} from './stubs.ts'

/*
 * A stand-in for an EventStoreDB: as much of its protocol as an adapter of one stream needs, spoken over real gRPC. It shows
 * what our adapter says on the wire and how it takes what can come back, and nothing about how the real server behaves.
 */

/** What befalls the next append. `late`: it is stored only when the client has given up, and never acknowledged. */
export type Mishap = 'none' | 'stored, error' | 'stored, silence' | 'stored, cut' | 'error' | 'silence' | 'cut' | 'late'

export interface StandInOptions {
  readonly kept?: KeptStreams
  /** 0: any that is free. */
  readonly port?: number
  /** Absent: everybody may do everything. */
  readonly user?: { readonly name: string; readonly password: string }
  readonly tls?: { readonly key: string; readonly certificate: string }
  /** Cuts every connection to it. */
  readonly cut?: () => void
  /** As BatchAppend is there since version 21. */
  readonly batchAppend?: boolean
  /** Port of the leader, where that is another. */
  readonly leaderPort?: () => number | undefined
  /** Subscriptions are confirmed, and told nothing. */
  readonly silent?: boolean
  /** The port that it tells others to reach it by, where that is another than its own. */
  readonly advertisedPort?: number
  /** How late `late` is. */
  readonly lateMs?: number
}

export interface StandIn {
  readonly port: number
  readonly kept: KeptStreams
  /** Of the next appends, in order. */
  readonly mishaps: Mishap[]
  /** What was called: `read`, `subscribe`, `gossip`, `append no_stream`, `batchAppend 7` with what is expected. */
  readonly calls: string[]
  /** Reads and subscriptions that have not ended. */
  readonly open: () => number
  /** Ends them with an error, as a server does with one who does not keep up. */
  readonly drop: () => void
  readonly stop: () => void
}

export const startStandIn = async (options: StandInOptions = {}): Promise<StandIn> => {
  const { kept = new KeptStreams(), port = 0, tls } = options
  const server: GrpcServer = new grpc.Server({ 'grpc.max_receive_message_length': 32 * 1_024 * 1_024 })
  const state: State = { options, kept, mishaps: [], calls: [], drops: new Set() }
  const { append, batchAppend } = appending(state)
  server.addService(streamsGrpc.StreamsService, {
    read: reading(state),
    append,
    batchAppend,
    delete: refuse,
    tombstone: refuse,
  })
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: featuresOf(options) })
  server.addService(gossipGrpc.GossipService, { read: gossipOf(state, () => options.advertisedPort ?? bound) })
  const credentials =
    tls === undefined
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) },
        ])
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) => {
      if (error === null) resolve(at)
      else reject(error)
    })
  })
  return {
    port: bound,
    kept,
    mishaps: state.mishaps,
    calls: state.calls,
    open: () => state.drops.size,
    drop: () => {
      for (const drop of [...state.drops]) drop()
    },
    stop: () => {
      server.forceShutdown()
    },
  }
}

interface State {
  readonly options: StandInOptions
  readonly kept: KeptStreams
  readonly mishaps: Mishap[]
  readonly calls: string[]
  readonly drops: Set<() => void>
}

interface CallError {
  readonly code: number
  readonly details: string
  readonly metadata?: GrpcMetadata
}

const failure = (status: string, details: string, exception?: string, more: Record<string, string> = {}): CallError => {
  const metadata = new grpc.Metadata()
  if (exception !== undefined) metadata.add('exception', exception)
  for (const [name, value] of Object.entries(more)) metadata.add(name, value)
  return { code: grpc.status[status]!, details, metadata }
}

const refuse = (_: unknown, answer: (error: CallError) => void): void => {
  answer(failure('UNIMPLEMENTED', 'the stand-in has none'))
}

/** Why the caller gets nothing; null: it may go on. */
const refusal = ({ options }: State, metadata: GrpcMetadata): CallError | null => {
  const { user } = options
  const leaderPort = options.leaderPort?.()
  const basic = user === undefined ? null : Buffer.from(`${user.name}:${user.password}`).toString('base64')
  if (basic !== null && metadata.get('authorization')[0] !== `Basic ${basic}`)
    return failure('PERMISSION_DENIED', 'Access Denied', 'access-denied')
  if (leaderPort !== undefined && metadata.get('requires-leader')[0] === 'true') return notLeader(leaderPort)
  return null
}

const notLeader = (port: number): CallError =>
  failure('NOT_FOUND', 'Leader info available', 'not-leader', {
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': String(port),
  })

// ---- Appends

type AppendHandler = StreamsGrpc.IStreamsServer['append']
type BatchAppendHandler = StreamsGrpc.IStreamsServer['batchAppend']

/** Stores, or lets happen what was asked for; null: the caller hears nothing. */
const storeOrNot = async (
  { kept, mishaps, options }: State,
  stream: string,
  expected: Expected,
  events: ReadonlyArray<Proposed>,
): Promise<Appended | CallError | null> => {
  const next = mishaps.shift()
  const mishap = next === 'none' ? undefined : next
  if (mishap === 'late') {
    await sleep(options.lateMs ?? 0)
    kept.append(stream, expected, events)
    return null
  }
  const stored = mishap === undefined || mishap.startsWith('stored') ? kept.append(stream, expected, events) : null
  if (mishap?.endsWith('cut') === true) options.cut?.()
  if (mishap?.endsWith('error') === true) return failure('UNKNOWN', 'the stand-in was asked to fail')
  return mishap === undefined ? stored : null
}

const appending = (state: State): { append: AppendHandler; batchAppend: BatchAppendHandler } => ({
  append: (call, answer) => {
    let options: Streams.AppendReq.Options | undefined
    const events: Proposed[] = []
    call.on('error', () => undefined)
    call.on('data', (request: Streams.AppendReq) => {
      if (request.hasOptions()) options = request.getOptions()
      else events.push(proposed(request.getProposedMessage()!))
    })
    call.on('end', () => {
      const fail = refusal(state, call.metadata)
      if (fail !== null) {
        answer(fail as never)
        return
      }
      const stream = nameOf(options!.getStreamIdentifier()!)
      const expected = options!.hasRevision()
        ? Number(options!.getRevision())
        : options!.hasNoStream()
          ? 'no_stream'
          : 'any'
      state.calls.push(`append ${expected}`)
      void storeOrNot(state, stream, expected, events).then((stored) => {
        if (stored === null) return
        if ('code' in stored) answer(stored as never)
        else if (stored.type === 'TooLarge') answer(tooLarge as never)
        else answer(null, appendResponse(stored, expected))
      })
    })
  },
  batchAppend: (call) => {
    const fail = refusal(state, call.metadata)
    if (fail !== null) {
      call.emit('error', fail)
      return
    }
    const waiting = new Map<string, { options: Streams.BatchAppendReq.Options; events: Proposed[] }>()
    call.on('error', () => undefined)
    call.on('data', (request: Streams.BatchAppendReq) => {
      const id = request.getCorrelationId()!.getString()
      const held = waiting.get(id) ?? { options: request.getOptions()!, events: [] }
      waiting.set(id, held)
      held.events.push(...request.getProposedMessagesList().map(proposed))
      if (!request.getIsFinal()) return
      waiting.delete(id)
      const { events, options } = held
      const expected = options.hasStreamPosition()
        ? Number(options.getStreamPosition())
        : options.hasNoStream()
          ? 'no_stream'
          : 'any'
      state.calls.push(`batchAppend ${expected}`)
      void storeOrNot(state, nameOf(options.getStreamIdentifier()!), expected, events).then((stored) => {
        if (stored === null) return
        if ('code' in stored) call.emit('error', stored)
        else call.write(batchResponse(request, options, stored, expected))
      })
    })
    call.on('end', () => {
      call.end()
    })
  },
})

const tooLarge = failure('INVALID_ARGUMENT', 'Maximum Append Size Exceeded.', 'maximum-append-size-exceeded', {
  'maximum-append-size': String(appendBytesMax),
})

const nameOf = (identifier: { getStreamName_asU8: () => Uint8Array }): string =>
  Buffer.from(identifier.getStreamName_asU8()).toString('utf8')

const proposed = (message: Streams.AppendReq.ProposedMessage | Streams.BatchAppendReq.ProposedMessage): Proposed => ({
  id: message.getId()!.getString(),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

const appendResponse = (stored: Appended & { type: 'Stored' | 'WrongExpectedVersion' }, expected: Expected) => {
  const response = new streams.AppendResp()
  if (stored.type === 'Stored') {
    const position = new streams.AppendResp.Position()
    position.setCommitPosition(String(stored.last)).setPreparePosition(String(stored.last))
    const success = new streams.AppendResp.Success()
    return response.setSuccess(success.setCurrentRevision(String(stored.last)).setPosition(position))
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (stored.current < 0) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(stored.current))
  if (typeof expected === 'number') wrong.setExpectedRevision(String(expected))
  else wrong.setExpectedNoStream(new shared.Empty())
  return response.setWrongExpectedVersion(wrong)
}

const batchResponse = (
  request: Streams.BatchAppendReq,
  options: Streams.BatchAppendReq.Options,
  stored: Appended,
  expected: Expected,
) => {
  const response = new streams.BatchAppendResp()
  response.setCorrelationId(request.getCorrelationId()).setStreamIdentifier(options.getStreamIdentifier())
  if (stored.type === 'Stored') {
    const position = new shared.AllStreamPosition()
    position.setCommitPosition(String(stored.last)).setPreparePosition(String(stored.last))
    const success = new streams.BatchAppendResp.Success()
    return response.setSuccess(success.setCurrentRevision(String(stored.last)).setPosition(position))
  }
  const details = new Any()
  if (stored.type === 'TooLarge') {
    const exceeded = new shared.MaximumAppendSizeExceeded().setMaxappendsize(appendBytesMax)
    details.pack(exceeded.serializeBinary(), 'event_store.client.MaximumAppendSizeExceeded')
  } else {
    const wrong = new shared.WrongExpectedVersion()
    if (stored.current < 0) wrong.setCurrentNoStream(new GoogleEmpty())
    else wrong.setCurrentStreamRevision(String(stored.current))
    // Without one of these the client says that any was expected.
    if (typeof expected === 'number') wrong.setExpectedStreamPosition(String(expected))
    else wrong.setExpectedNoStream(new GoogleEmpty())
    details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion')
  }
  return response.setError(new rpcStatus.Status().setMessage(stored.type).setDetails(details))
}

// ---- Reads and subscriptions

type ReadHandler = StreamsGrpc.IStreamsServer['read']
type ReadCall = Parameters<ReadHandler>[0]

const reading =
  (state: State): ReadHandler =>
  (call) => {
    const options = call.request.getOptions()!
    const subscribes = options.hasSubscription()
    state.calls.push(subscribes ? 'subscribe' : 'read')
    const fail = refusal(state, call.metadata)
    if (fail !== null) {
      call.emit('error', fail)
      return
    }
    const drop = (): void => {
      call.emit('error', failure('ABORTED', 'the subscriber does not keep up'))
    }
    state.drops.add(drop)
    for (const end of ['cancelled', 'close', 'finish', 'error']) call.on(end, () => state.drops.delete(drop))
    void (subscribes ? subscription(state, call, options) : read(state, call, options))
  }

/** Resolves when more may be written, or nothing more can be. */
const roomIn = (call: ReadCall): Promise<void> =>
  new Promise((resolve) => {
    const events = ['drain', 'cancelled', 'close']
    const done = (): void => {
      for (const event of events) call.off(event, done)
      resolve()
    }
    for (const event of events) call.on(event, done)
  })

const isGone = (call: ReadCall): boolean => call.cancelled || call.destroyed

const read = async ({ kept }: State, call: ReadCall, options: Streams.ReadReq.Options): Promise<void> => {
  const from = options.getStream()!
  const name = nameOf(from.getStreamIdentifier()!)
  const events = kept.events(name)
  if (events === null) {
    const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(from.getStreamIdentifier())
    call.write(new streams.ReadResp().setStreamNotFound(notFound))
    call.end()
    return
  }
  const step = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS ? -1 : 1
  const start = from.hasRevision() ? Number(from.getRevision()) : from.hasEnd() ? events.length - 1 : 0
  let left = Number(options.getCount())
  for (let at = start; events[at] !== undefined && left > 0 && !isGone(call); at += step, left--)
    if (!call.write(delivered(name, events[at]!, at))) await roomIn(call)
  if (!isGone(call)) call.end()
}

const subscription = async (
  { kept, options: { silent } }: State,
  call: ReadCall,
  options: Streams.ReadReq.Options,
): Promise<void> => {
  const from = options.getStream()!
  const name = nameOf(from.getStreamIdentifier()!)
  call.write(new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation()))
  let next = from.hasRevision() ? Number(from.getRevision()) + 1 : from.hasEnd() ? (kept.events(name)?.length ?? 0) : 0
  let wake: () => void = () => undefined
  const unlisten = kept.listen(() => {
    wake()
  })
  for (const end of ['cancelled', 'close'])
    call.once(end, () => {
      wake()
    })
  while (!isGone(call)) {
    const event = silent === true ? undefined : kept.events(name)?.[next]
    if (event === undefined) await new Promise<void>((resolve) => (wake = resolve))
    else if (!call.write(delivered(name, event, next++))) await roomIn(call)
  }
  unlisten()
}

const ticksPerMs = 10_000n

const delivered = (stream: string, event: Proposed, revision: number): Streams.ReadResp => {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
  recorded
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    .setStreamRevision(String(revision))
    .setPreparePosition(String(revision))
    .setCommitPosition(String(revision))
    .setData(event.data)
    .setCustomMetadata(event.metadata)
  recorded.getMetadataMap().set('type', event.type)
  recorded.getMetadataMap().set('content-type', event.contentType)
  recorded.getMetadataMap().set('created', String(1_700_000_000_000n * ticksPerMs))
  const readEvent = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(revision))
  return new streams.ReadResp().setEvent(readEvent)
}

// ---- What it can, and who its cluster is

const featuresOf =
  ({ batchAppend = true }: StandInOptions) =>
  (_: unknown, answer: (error: null, response: unknown) => void): void => {
    const method = (name: string) =>
      new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name)
    const methods = ['read', 'append', ...(batchAppend ? ['batchappend'] : [])].map(method)
    answer(null, new features.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion('0.0.0-stand-in'))
  }

const gossipOf =
  ({ calls, options }: State, ownPort: () => number) =>
  (_: unknown, answer: (error: null, response: unknown) => void): void => {
    calls.push('gossip')
    const { FOLLOWER, LEADER } = gossip.MemberInfo.VNodeState
    const member = (port: number, nodeState: Gossip.MemberInfo.VNodeState) =>
      new gossip.MemberInfo()
        .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000000'))
        .setTimeStamp('0')
        .setState(nodeState)
        .setIsAlive(true)
        .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port))
    const leaderPort = options.leaderPort?.()
    const own = member(ownPort(), leaderPort === undefined ? LEADER : FOLLOWER)
    const members = leaderPort === undefined ? [own] : [own, member(leaderPort, LEADER)]
    answer(null, new gossip.ClusterInfo().setMembersList(members))
  }
