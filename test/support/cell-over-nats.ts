import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellEvent, CellInput, NodeHealth } from '../../domain/planner/cell-event.ts'
import { decodeFactLine } from '../../domain/planner/cloud-event.ts'
import { OpenCommands } from '../../domain/planner/open-commands.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { snapshotStore } from '../../infra/host/snapshot-store.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { natsCommandSink } from '../../infra/nats/command-sink.ts'
import { natsOutcomeSource } from '../../infra/nats/outcome-source.ts'
import { CellOwner } from '../../services/decide/cell-owner.ts'
import { foldCell } from '../../services/decide/fold.ts'
import { Dispatch } from '../../services/dispatch/dispatch.ts'
import { right } from './events.ts'
import { linkTo } from './nats-server.ts'
import { cellName, policyOf, submission } from './up-cell.ts'

type Submitted = ReturnType<typeof submission>

/** The side of a cell: it decides, sends its commands to one adapter, and takes what that one tells. */
export const cellOverNats = async (url: string, adapter: string, folder: string) => {
  const log = memoryEventLog()
  const link = await linkTo(url)
  const owner = await right(() =>
    CellOwner.open(log, {
      ...{ stream: cellName, source: 'test', actor: 'test', clock: systemClock, ticks: 'wall' },
      recordTime: (at) => at,
      snapshots: snapshotStore(folder),
      faulted: () => undefined,
    }),
  )
  const record = (...facts: ReadonlyArray<CellInput & { readonly id: string }>) => right(() => owner.record(facts))
  await record(policyOf())
  const { cell, size } = await right(() => foldCell(log, cellName))
  const dispatch = new Dispatch(
    {
      log,
      now: systemClock.now,
      record: (fact) => owner.record([fact]),
      sink: natsCommandSink(link, adapter, systemClock),
      sinkDown: () => undefined,
    },
    { commands: new OpenCommands(cell), position: size - 1 },
  )
  const outcomes = natsOutcomeSource(link).subscribe(cellName, async (lines) => {
    const facts = lines.map(decodeFactLine).flatMap((fact) => (E.isRight(fact) ? [fact.right] : []))
    return E.map(() => undefined)(await owner.record(facts))
  })
  const events = async (): Promise<ReadonlyArray<CellEvent>> =>
    (await right(log.readStream(cellName, 0, 10_000))).map(({ message }) => message as unknown as CellEvent)
  const runs = () => [...owner.cell.workloads.values()].flatMap(({ run }) => run ?? [])
  let orders = 0
  const order = (input: CellInput) => record({ id: `order/${orders++}`, ...input })
  return {
    link,
    events,
    nodes: () => owner.cell.fleet.nodes.length,
    openCommands: () => dispatch.open.size,
    running: () => runs().length,
    /** Of those that run, as many as their adapter has not said to. */
    unconfirmed: () => runs().filter((run) => !run.confirmed).length,
    /** `start done`, `evict done`, `ended succeeded` ... of one workload, in the order in which the cell took them. */
    story: async (workload: string): Promise<ReadonlyArray<string>> =>
      (await events()).flatMap((event) => {
        if (event.type === 'CommandConcluded' && event.data.workload === workload)
          return [`${event.data.verb} ${event.data.outcome}`]
        return event.type === 'AttemptEnded' && event.data.workload === workload ? [`ended ${event.data.outcome}`] : []
      }),
    submit: (workload: string, devices: number, more: (fact: Submitted) => Submitted = (fact) => fact) =>
      record(more(submission(workload, devices, Date.now()))),
    setHealth: (node: string, health: NodeHealth) =>
      order({ type: 'NodeHealthChanged', at: Date.now() as EpochMs, data: { device: null, health, node } }),
    cancel: (workload: string) =>
      order({ type: 'CancelRequested', at: Date.now() as EpochMs, data: { actor: 'u', reason: null, workload } }),
    close: async () => {
      await outcomes.stop()
      await dispatch.close()
      await owner.close()
      await link.close()
    },
  }
}
