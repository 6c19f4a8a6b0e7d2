import { either as E } from 'fp-ts'
import { systemClock } from '../../../infra/host/clock.ts'
import { natsCommandSource } from '../../../infra/nats/command-source.ts'
import { NatsLink } from '../../../infra/nats/link.ts'
import { natsOutcomeSink } from '../../../infra/nats/outcome-sink.ts'
import { parseNatsUrl } from '../../../infra/nats/place.ts'
import { AdapterBook } from './adapter-book.ts'
import { Adapter } from './adapter.ts'
import type { Handlers } from './handlers.ts'

export interface AdapterOptions {
  /** `nats://user:password@host:4222?option=value` (docs/bus.md). */
  readonly nats: string
  readonly cell: string
  /** Of the adapter: what the cell's commands are addressed to. One process of it runs at a time. */
  readonly name: string
  /** For this adapter alone: what it has to know after it was killed. */
  readonly folder: string
  readonly handlers: Handlers
  /** Told, in a sentence, what went wrong and is tried again or was put aside; left out: stderr is. */
  readonly troubled?: (reason: string) => void
}

export interface AdapterFault {
  readonly type: 'AdapterFault'
  readonly reason: string
  readonly mend: string
}

/** A process that is gone for so long has its commands given to the next: soon, because a job may wait for it. */
const ackWaitMs = 5_000

/** Connects, and takes commands until it is stopped; a connection that is lost later is made again. */
export const startAdapter = async (options: AdapterOptions): Promise<E.Either<AdapterFault, Adapter>> => {
  const { cell, folder, handlers, name, nats } = options
  const troubled = options.troubled ?? ((reason) => process.stderr.write(`${reason}\n`))
  const place = parseNatsUrl(nats)
  if (E.isLeft(place)) return fault(`the URL of the NATS server is not valid: ${place.left}`, 'see docs/bus.md')
  const opened = await opening(folder)
  if (E.isLeft(opened)) return opened
  const link = await NatsLink.open(place.right, {
    told: (lost) => {
      if (lost !== null) troubled(`${lost.reason}; ${lost.mend}`)
    },
  })()
  if (E.isLeft(link)) {
    await opened.right.close()
    return fault(link.left.reason, link.left.mend)
  }
  const adapter = new Adapter({
    ...{ cell, name, handlers, troubled },
    book: opened.right,
    clock: systemClock,
    source: (concluded) => natsCommandSource(link.right, { clock: systemClock, concluded, ackWaitMs, troubled }),
    sink: natsOutcomeSink(link.right),
    close: () => link.right.close(),
  })
  return E.right(adapter)
}

const fault = (reason: string, mend: string): E.Either<AdapterFault, never> =>
  E.left({ type: 'AdapterFault', reason, mend })

const opening = async (folder: string): Promise<E.Either<AdapterFault, AdapterBook>> => {
  try {
    const opened = await AdapterBook.open(folder)
    return E.isLeft(opened) ? fault(`${folder}: ${opened.left}`, 'stop it, or name another folder') : opened
  } catch (cause) {
    return fault(
      `${folder} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      'name a folder that can be written',
    )
  }
}
