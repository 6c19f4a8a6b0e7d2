import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { CellInput } from '../../../domain/planner/cell-event.ts'
import type { Command } from '../../../domain/planner/command.ts'
import { OpenCommands } from '../../../domain/planner/open-commands.ts'
import type { SinkDown } from '../../../domain/ports/command-sink.ts'
import type { EventLog } from '../../../domain/ports/event-log.ts'
import { snapshotStore } from '../../../infra/host/snapshot-store.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellOwner } from '../../../services/decide/cell-owner.ts'
import { foldCell } from '../../../services/decide/fold.ts'
import { Dispatch } from '../../../services/dispatch/dispatch.ts'
import { right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { cellName, nodeOf, policyOf, submission } from '../../support/up-cell.ts'

const folder = tempFolder()
const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A cell, a clock that stands still, and a sink that keeps what it gets while it is up. */
const setUp = async () => {
  const log: EventLog = memoryEventLog()
  const time = { now: 1_000 }
  const clock = { now: () => time.now as EpochMs }
  const snapshots = snapshotStore(folder())
  const owner = await right(() =>
    CellOwner.open(log, {
      stream: cellName,
      source: 'test',
      actor: 'test',
      recordTime: (at) => at,
      clock,
      ticks: 'wall',
      snapshots,
      faulted: () => undefined,
    }),
  )
  open.push(owner)
  const got: Command[] = []
  const said: (SinkDown | null)[] = []
  const sink = { isUp: true, attempts: 0 }
  const dispatch = async (): Promise<Dispatch> => {
    const { cell, size } = await right(() => foldCell(log, cellName))
    const started = new Dispatch(
      {
        log,
        now: clock.now,
        record: (fact) => owner.record([fact]),
        sink: {
          send: (command) => () => {
            sink.attempts += 1
            if (!sink.isUp) return Promise.resolve(E.left({ type: 'SinkDown', reason: 'nobody is there' }))
            got.push(command)
            return Promise.resolve(E.right('sent' as const))
          },
        },
        sinkDown: (down) => said.push(down),
      },
      { commands: new OpenCommands(cell), position: size - 1 },
    )
    open.push(started)
    return started
  }
  const record = (...facts: ReadonlyArray<CellInput & { readonly id: string }>) => right(() => owner.record(facts))
  const names = () => got.map(({ command }) => command)
  const types = async () => (await right(log.readStream(cellName, 0, 1_000))).map(({ message }) => message)
  return { log, time, owner, got, names, said, sink, dispatch, record, types }
}

const concluded = (command: string, workload: string, verb: 'start' | 'cancel' = 'start') => ({
  id: `${command}/concluded`,
  type: 'CommandConcluded' as const,
  at: 2_000 as EpochMs,
  data: { attempt: 1, command, outcome: 'done' as const, reason: null, verb, workload },
})

it('should send each command once while it runs, and what is open again after a restart', async () => {
  const { dispatch, record, names } = await setUp()
  await record(nodeOf('n'), policyOf())
  const first = await dispatch()
  await record(submission('a', 2), submission('b', 2))
  await expect.poll(names).toEqual(['a/1/start', 'b/1/start'])
  await record(concluded('a/1/start', 'a'))
  await record(submission('c', 2))
  await expect.poll(names).toEqual(['a/1/start', 'b/1/start', 'c/1/start'])
  await first.close()
  await dispatch()
  await expect.poll(names).toEqual(['a/1/start', 'b/1/start', 'c/1/start', 'b/1/start', 'c/1/start'])
})

it('should try again with longer and longer waits while the sink is down, and say so', async () => {
  const { dispatch, record, names, said, sink } = await setUp()
  sink.isUp = false
  await record(nodeOf('n'), policyOf(), submission('a', 2))
  await dispatch()
  await expect.poll(() => sink.attempts, { timeout: 5_000 }).toBeGreaterThan(3)
  expect(sink.attempts).toBeLessThan(10)
  expect(said.at(-1)).toMatchObject({ type: 'SinkDown' })
  sink.isUp = true
  await expect.poll(names, { timeout: 10_000 }).toEqual(['a/1/start'])
  await expect.poll(() => said.at(-1)).toBeNull()
})

it.each([
  ['frozen', { frozen: 'all' }],
  ['only advising', { mode: 'advise' }],
] as const)('should send nothing while it is %s, and go on when it is let go', async (_, policy) => {
  const { dispatch, record, names, sink } = await setUp()
  await record(nodeOf('n'), policyOf(), submission('a', 2))
  await record(policyOf(policy, 1_000))
  const started = await dispatch()
  await record(submission('b', 2))
  await expect.poll(() => started.open.size).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect(sink.attempts).toBe(0)
  await record(policyOf({ name: 'again' }, 1_100))
  await expect.poll(names).toContain('a/1/start')
})

it('should record that no outcome came when deadline and span since it was sent have passed', async () => {
  const { dispatch, record, types, time, names } = await setUp()
  await record(nodeOf('n'), policyOf(), submission('a', 2))
  // Sent a minute late: it has its whole two minutes from then on.
  time.now += 60_000
  await dispatch()
  await expect.poll(names).toEqual(['a/1/start'])
  time.now += 119_999
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  expect((await types()).some(({ type }) => type === 'CommandConcluded')).toBe(false)
  time.now += 2
  const expired = { type: 'CommandConcluded', at: time.now, data: { command: 'a/1/start', outcome: 'expired' } }
  await expect.poll(types).toContainEqual(expect.objectContaining({ type: 'CommandConcluded' }))
  expect((await types()).find(({ type }) => type === 'CommandConcluded')).toMatchObject(expired)
  // What follows is asked for, and the start is no longer.
  await expect.poll(names).toEqual(['a/1/start', 'a/1/evict/1'])
})

it('should remember nothing of what is concluded', async () => {
  const { dispatch, record, names } = await setUp()
  await record(nodeOf('n', 64), policyOf())
  const started = await dispatch()
  for (let i = 0; i < 40; i++) await record(submission(`w-${i}`, 1))
  await expect.poll(() => names().length).toBe(40)
  for (let i = 0; i < 40; i++) await record(concluded(`w-${i}/1/start`, `w-${i}`))
  await expect.poll(() => started.open.size).toBe(0)
  await expect.poll(() => started.remembered).toBe(0)
})
