import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { OpenCommands } from '../../domain/planner/open-commands.ts'
import type { CommandSink, SinkDown } from '../../domain/ports/command-sink.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { systemClock } from '../../infra/host/clock.ts'
import type { SnapshotStore } from '../../infra/host/snapshot-store.ts'
import type { AttachedNats } from './attached-nats.ts'
import type { CellOwner } from '../decide/cell-owner.ts'
import { foldCell } from '../decide/fold.ts'
import { Dispatch } from '../dispatch/dispatch.ts'
import type { StartFault, SystemOptions } from '../main.ts'
import { EmbeddedAdapter } from '../schedulers/embedded/adapter.ts'
import { Journal } from '../schedulers/embedded/journal.ts'
import { askedCommands } from '../schedulers/http/asked-commands.ts'

/** Who is asked to do what is decided. */
export const openSink = async (
  owner: CellOwner,
  adapter: NonNullable<SystemOptions['adapter']>,
  folder: string,
  nats: AttachedNats | null,
): Promise<E.Either<StartFault, CommandSink & { readonly close: () => Promise<void> }>> => {
  if (adapter === 'http') return E.right({ ...askedCommands, close: () => Promise.resolve() })
  if ('nats' in adapter)
    return nats === null
      ? E.left({ type: 'NotStarted', reason: 'commands are to go over NATS, and no server is named', mend: natsMend })
      : E.right({ ...nats.sink(adapter.nats, systemClock), close: () => Promise.resolve() })
  try {
    const embedded = await EmbeddedAdapter.open({
      openJournal: (follow, picture) => Journal.open(join(folder, 'embedded'), follow, picture),
      script: adapter.script,
      now: () => owner.now,
      // What happened before what has been decided about is told late.
      report: (facts) =>
        owner.record(facts.map((fact) => ({ ...fact, at: Math.max(fact.at, owner.cell.now) as EpochMs }))),
    })
    return E.right(embedded)
  } catch (cause) {
    const reason = `the embedded adapter cannot start: ${cause instanceof Error ? cause.message : String(cause)}`
    return E.left({ type: 'NotStarted', reason, mend: 'or run with --adapter none' })
  }
}

const natsMend = 'set nats to its URL, such as nats://127.0.0.1:4222'

export interface Dispatching {
  readonly log: EventLog
  readonly owner: CellOwner
  readonly stream: string
  readonly sink: CommandSink
  readonly snapshots: SnapshotStore
  readonly sinkDown: (down: SinkDown | null) => void
}

/** Follows the log from where the commands stand that it holds. */
export const startDispatch = async ({
  log,
  owner,
  sink,
  sinkDown,
  snapshots,
  stream,
}: Dispatching): Promise<E.Either<LogUnavailable, Dispatch>> => {
  const folded = await foldCell(log, stream, { snapshots })
  if (E.isLeft(folded)) return folded
  const { cell, size } = folded.right
  const last = await log.readStream(stream, size - 1, 1)()
  if (E.isLeft(last)) return last
  const followed = { commands: new OpenCommands(cell), position: last.right[0]?.position ?? -1 }
  const record = (fact: Parameters<CellOwner['record']>[0][number]) => owner.record([fact])
  return E.right(new Dispatch({ log, sink, record, now: () => owner.now, sinkDown }, followed))
}
