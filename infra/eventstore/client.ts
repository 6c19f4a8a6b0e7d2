import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { EventStoreDBClient, type SingleNodeOptions } from '@eventstore/db-client'
import { within } from '../host/within.ts'
import type { EventStorePlace } from './place.ts'

const disposeMaxMs = 1_000
/** Each of them asks every member; the deadline of the call ends them all. */
const discoverAttemptsMax = 3
const gossipMaxS = 2

/** What the client's own appends and reads take beside what they are about. */
export interface CallOptions {
  readonly credentials?: { readonly username: string; readonly password: string }
  readonly requiresLeader: true
  readonly deadline: number
}

/** The vendor's client, which can be ended: left to itself it keeps its connection until the process ends. */
export class EventStoreClient extends EventStoreDBClient {
  readonly call: CallOptions
  private readonly ending = new AbortController()
  private channel: { readonly close: () => void } | null = null

  constructor(place: EventStorePlace) {
    const { caFile, deadlineMs, discover, hosts, tls } = place
    const endpoint = hosts[0]!
    const cluster = { maxDiscoverAttempts: discoverAttemptsMax, gossipTimeout: gossipMaxS }
    const reached = discover
      ? { discover: endpoint, ...cluster }
      : hosts.length > 1
        ? { endpoints: [...hosts], ...cluster }
        : { endpoint }
    const security = tls
      ? { insecure: false, ...(caFile !== null && { rootCertificate: readFileSync(caFile) }) }
      : { insecure: true }
    // One of three constructors, by which members are there.
    super({ ...reached, defaultDeadline: deadlineMs, connectionName: 'leasehold' } as SingleNodeOptions, security)
    setMaxListeners(0, this.ended) // One for each call that is under way.
    this.call = { requiresLeader: true, deadline: deadlineMs, ...credentialsOf(place) }
    const connect = this.getChannel
    this.getChannel = async () => {
      const channel = await connect()
      this.channel = channel
      if (this.ended.aborted) channel.close()
      return channel
    }
  }

  /** Aborted when this client is given up: its reads then end without a word, and so must whoever drains one. */
  get ended(): AbortSignal {
    return this.ending.signal
  }

  async end(): Promise<void> {
    if (this.ended.aborted) return
    this.ending.abort()
    await within(disposeMaxMs, this.dispose())
    this.channel?.close()
  }
}

const credentialsOf = ({ password, passwordFile, user }: EventStorePlace): Pick<CallOptions, 'credentials'> => {
  if (user === null) return {}
  const secret = passwordFile === null ? (password ?? '') : readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '')
  return { credentials: { username: user, password: secret } }
}
