import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { demoGpusPerNode, demoTrace } from '../../../domain/simulation/demo-trace.ts'
import type { NewEvent } from '../../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { snapshotStore } from '../../../infra/host/snapshot-store.ts'
import { foldCell, keepSnapshot } from '../../../services/decide/fold.ts'
import { simulate } from '../../../services/decide/simulate.ts'
import { equalNodes } from '../../../domain/simulation/equal-nodes.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folderFor = tempFolder()

const simulated = async () => {
  const lines: string[] = []
  const log = memoryEventLog(lines)
  const scenario = {
    jobs: demoTrace(3, 400),
    nodes: equalNodes(2, demoGpusPerNode),
    policy: { ...defaultPolicy, queues: [{ name: 'default', ordering: 'reserve' as const }] },
    fill: false,
  }
  const done = await simulate(log, 'cell-test', scenario, () => undefined)
  if (E.isLeft(done)) throw new Error(done.left.type)
  return { lines, log, ...done.right }
}

const folded = async (log: ReturnType<typeof memoryEventLog>, ...options: Parameters<typeof foldCell>[2][]) => {
  const read = await foldCell(log, 'cell-test', ...options)
  if (E.isLeft(read)) throw new Error(read.left.reason)
  return read.right
}

it('should fold a log into the cell that wrote it', async () => {
  const { log, cell, events } = await simulated()
  const { cell: again, size } = await folded(log)
  expect(size).toBe(events)
  expect(takeSnapshot(again)).toEqual(takeSnapshot(cell))
})

it('should fold from a snapshot into the same cell as without one', async () => {
  const { lines } = await simulated()
  const snapshots = snapshotStore(folderFor())
  for (const part of [0.1, 0.5, 0.9]) {
    const beginning = memoryEventLog(lines.slice(0, Math.floor(lines.length * part)))
    await keepSnapshot(beginning, (await folded(beginning)).cell, snapshots)
    const log = memoryEventLog(lines)
    let first = 0
    const { cell } = await folded(log, { snapshots, seen: (events) => (first ||= events) })
    expect(takeSnapshot(cell)).toEqual(takeSnapshot((await folded(log)).cell))
  }
})

it('should not use a snapshot of a later instant, of another history or of another release', async () => {
  const { lines, log, cell } = await simulated()
  const folder = folderFor()
  const snapshots = snapshotStore(folder)
  await keepSnapshot(log, cell, snapshots)
  const until = Math.floor(cell.now / 2) as EpochMs
  const early = (await folded(log, { until })).cell
  expect(takeSnapshot((await folded(log, { until, snapshots })).cell)).toEqual(takeSnapshot(early))

  const shorter = memoryEventLog(lines.slice(0, 300))
  expect((await folded(shorter, { snapshots })).size).toBe(300)

  const file = join(folder, readdirSync(folder)[0]!)
  writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":9'))
  expect(takeSnapshot((await folded(log, { snapshots })).cell)).toEqual(takeSnapshot(cell))
})

it('should stand at the instant that was asked for, not at the event before it, and never beyond the end', async () => {
  const { log, cell: last } = await simulated()
  const changes = new Set<number>()
  const messages = await log.readMessages('cell-test', 0, 100_000)()
  if (E.isRight(messages)) for (const { at } of messages.right) changes.add(at)
  const quiet = [...changes].sort((a, b) => a - b).find((at) => at > last.now / 2 && !changes.has(at + 1))!
  const until = (quiet + 1) as EpochMs
  const then = (await folded(log, { until })).cell
  expect(then.now).toBe(until)
  const before = (await folded(log, { until: quiet as EpochMs })).cell
  expect(takeSnapshot(then)).toEqual({ ...takeSnapshot(before), now: until })
  expect((await folded(log, { until: (last.now + 1) as EpochMs })).cell.now).toBe(last.now)
})

it('should say where a log does not follow, and what to do', async () => {
  const { log, events } = await simulated()
  const foreign: NewEvent = {
    id: 'foreign',
    message: { type: 'AttemptEnded', at: 1 as EpochMs, data: { attempt: 1, outcome: 'failed', workload: 'nobody' } },
    version: 1,
    source: 'test',
    actor: 'test',
    recordTime: 1 as EpochMs,
    causation: null,
    correlation: null,
    policy: null,
  }
  expect(E.isRight(await log.append('cell-test', events - 1, [foreign])())).toBe(true)
  expect(await foldCell(log, 'cell-test')).toMatchObject({
    left: { kind: 'damaged', reason: expect.stringContaining(`event ${events} of cell-test`) as string },
  })
})
