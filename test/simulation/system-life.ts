import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Command } from '../../domain/planner/command.ts'
import { OpenCommands } from '../../domain/planner/open-commands.ts'
import type { CommandSink } from '../../domain/ports/command-sink.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { SnapshotStore } from '../../infra/host/snapshot-store.ts'
import type { CellOwner } from '../../services/decide/cell-owner.ts'
import { foldCell } from '../../services/decide/fold.ts'
import { Dispatch } from '../../services/dispatch/dispatch.ts'
import type { FactIntake } from '../../services/ingest/fact-intake.ts'
import { Projector } from '../../services/project/project.ts'
import type { CountedViews } from '../../services/project/rebuild.ts'
import { EmbeddedAdapter } from '../../services/schedulers/embedded/adapter.ts'
import type { OpenJournal } from '../../services/schedulers/embedded/journal.ts'
import type { Script } from '../../services/schedulers/embedded/script.ts'
import type { Chance, Lifeline } from './lifeline.ts'
import { openWayIn } from './way-in.ts'
import type { Weather } from './weather.ts'

export interface LifeParts {
  readonly life: Lifeline
  readonly cell: string
  readonly log: EventLog
  readonly views: CountedViews
  readonly snapshots: SnapshotStore
  readonly openJournal: OpenJournal
  readonly script: Script
  readonly clock: { readonly now: () => EpochMs }
  readonly weather: Weather
  readonly below: Chance
  readonly wait: (ms: number) => Promise<void>
  /** Told of every command that reaches the adapter. */
  readonly reached: (command: Command) => void
}

export interface SystemLife {
  readonly owner: CellOwner
  readonly intake: FactIntake
  readonly dispatch: Dispatch
  readonly projector: Projector
}

/** One process of the system, wired as `leasehold up` wires it. Null: it could not start, or died before it had. */
export const startLife = async (parts: LifeParts): Promise<SystemLife | null> => {
  const { cell, clock, life, log, snapshots } = parts
  const wayIn = await openWayIn(life, log, { stream: cell, recordTime: clock.now, clock, ticks: 'wall', snapshots })
  if (wayIn === null) return null
  const { intake, owner } = wayIn
  const adapter = await EmbeddedAdapter.open({
    openJournal: parts.openJournal,
    script: parts.script,
    now: () => owner.now,
    report: (facts) =>
      owner.record(facts.map((fact) => ({ ...fact, at: Math.max(fact.at, owner.cell.now) as EpochMs }))),
  })
  life.onEnd(() => adapter.close())

  const folded = await foldCell(log, cell, { snapshots })
  if (E.isLeft(folded)) return null
  const last = await log.readStream(cell, folded.right.size - 1, 1)()
  if (E.isLeft(last)) return null
  const dispatch = new Dispatch(
    {
      log,
      sink: unsteadySink(adapter, parts),
      record: (fact) => owner.record([fact]),
      now: () => owner.now,
      sinkDown: () => undefined,
    },
    { commands: new OpenCommands(folded.right.cell), position: last.right[0]?.position ?? -1 },
  )
  life.onEnd(() => dispatch.close())
  const projector = new Projector(log, parts.views, clock)
  life.onEnd(() => projector.stop())
  return { owner, intake, dispatch, projector }
}

/** Commands come late and in another order, twice, or with their answer lost: each of them comes in the end. */
const unsteadySink = (sink: CommandSink, { below, life, reached, wait, weather }: LifeParts): CommandSink => {
  const deliver = async (command: Command) => {
    if (life.dead) return E.left({ type: 'SinkDown' as const, reason: 'nobody is there' })
    reached(command)
    return sink.send(command)()
  }
  return {
    send: (command) => async () => {
      if (!weather.sink) return deliver(command)
      const luck = below(10)
      if (luck === 0) return E.left({ type: 'SinkDown', reason: 'nobody is there' })
      if (luck < 4) void wait(below(20_000)).then(() => deliver(command))
      if (luck === 1) return E.left({ type: 'SinkDown', reason: 'its answer did not come' })
      if (luck === 2) return E.right('sent')
      return deliver(command)
    },
  }
}
