import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../../infra/chain/audited-log.ts'
import { eventStoreLog, type EventStoreOptions } from '../../../infra/eventstore/event-log.ts'
import { parseEventStoreUrl, type EventStorePlace } from '../../../infra/eventstore/place.ts'
import { KeptStreams } from './kept-streams.ts'
import { startStandIn, type StandIn, type StandInOptions } from './stand-in.ts'
import { openWire, type Wire } from './wire.ts'

export const stream = 'leasehold'

/** A stand-in behind a wire, which can restart with what it holds. */
export interface Scene {
  readonly kept: KeptStreams
  readonly wire: Wire
  readonly server: () => StandIn
  readonly place: EventStorePlace
  readonly open: (options?: EventStoreOptions) => Promise<AuditedLog>
  readonly tryToOpen: (options?: EventStoreOptions) => Promise<E.Either<LogUnavailable, AuditedLog>>
  readonly stop: () => void
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface SceneOptions extends StandInOptions {
  readonly credentials?: string
  readonly deadlineMs?: number
  /** Further options of the URL. */
  readonly query?: string
}

export const placeOf = (url: string): EventStorePlace => {
  const place = parseEventStoreUrl(url)
  if (E.isLeft(place)) throw new Error(place.left)
  return place.right
}

export const openScene = async (options: SceneOptions = {}): Promise<Scene> => {
  const { credentials, deadlineMs = 2_000, query = 'tls=false' } = options
  const kept = options.kept ?? new KeptStreams()
  let server: StandIn | null = null
  const wire = await openWire(() => server?.port ?? 1)
  const start = async (): Promise<void> => {
    server = await startStandIn({ cut: wire.cut, advertisedPort: wire.port, ...options, kept })
  }
  await start()
  const user = credentials === undefined ? '' : `${credentials}@`
  const place = placeOf(`esdb://${user}127.0.0.1:${wire.port}?defaultDeadline=${deadlineMs}&${query}`)
  const opened: AuditedLog[] = []
  const tryToOpen: Scene['tryToOpen'] = async (logOptions) => {
    const log = await eventStoreLog(place, logOptions)()
    if (E.isRight(log)) opened.push(log.right)
    return log
  }
  return {
    kept,
    wire,
    place,
    server: () => server!,
    tryToOpen,
    open: async (logOptions) => {
      const log = await tryToOpen(logOptions)
      if (E.isLeft(log)) throw new Error(JSON.stringify(log.left))
      return log.right
    },
    stop: () => {
      server!.stop()
    },
    start,
    close: async () => {
      for (const log of opened) await log.close()
      await wire.close()
      server!.stop()
    },
  }
}
