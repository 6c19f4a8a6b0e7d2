import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import type { AppendFault, EventLog } from '../../../domain/ports/event-log.ts'
import { digestOf } from '../../../infra/chain/log-digest.ts'
import { snapshotStore } from '../../../infra/host/snapshot-store.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellOwner, type Owning } from '../../../services/decide/cell-owner.ts'
import { foldCell } from '../../../services/decide/fold.ts'
import { left, right } from '../../support/events.ts'
import { factScript, numbersFrom } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { cellName, logThatFills, nodeOf, policyOf, submission } from '../../support/up-cell.ts'

const folder = tempFolder()
const owners: CellOwner[] = []
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.close()
})

const open = async (log: EventLog, more: Partial<Owning> = {}): Promise<CellOwner> => {
  const owner = await right(() =>
    CellOwner.open(log, {
      stream: cellName,
      source: 'test',
      actor: 'test',
      recordTime: (at) => at,
      clock: { now: () => 1_000 as EpochMs },
      ticks: 'wall',
      snapshots: snapshotStore(folder()),
      faulted: () => undefined,
      ...more,
    }),
  )
  owners.push(owner)
  return owner
}

const idsIn = async (log: EventLog) => (await right(log.readStream(cellName, 0, 10_000))).map(({ id }) => id)
const typesIn = async (log: EventLog) =>
  (await right(log.readStream(cellName, 0, 10_000))).map(({ message }) => message.type)

it('should record what many requests hand over at once, each in its order, in few appends', async () => {
  const { log, state } = logThatFills(memoryEventLog())
  const owner = await open(log)
  await right(() => owner.record([nodeOf('n', 64), policyOf()]))
  const below = numbersFrom(7)
  const requests = Array.from({ length: 50 }, (_, r) =>
    Array.from({ length: 1 + below(20) }, (_, i) => submission(`w-${r}-${i}`, 1)),
  )
  state.appends = 0
  await Promise.all(requests.map((facts) => right(() => owner.record(facts))))
  expect(state.appends).toBeLessThan(5)
  const ids = await idsIn(log)
  expect(new Set(ids).size).toBe(ids.length)
  for (const facts of requests) {
    const places = facts.map(({ id }) => ids.indexOf(id))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
  }
  expect((await typesIn(log)).filter((type) => type === 'Ticked')).toHaveLength(state.appends)
})

it('should decide in the append that holds what it decides about, once for all that came together', async () => {
  const log = memoryEventLog()
  const owner = await open(log)
  await right(() => owner.record([nodeOf('n'), policyOf()]))
  await Promise.all(['a', 'b'].map((name) => right(() => owner.record([submission(name, 4)]))))
  expect(await typesIn(log)).toEqual([
    'NodeRegistered',
    'PolicyActivated',
    'WorkloadSubmitted',
    'WorkloadSubmitted',
    'Ticked',
    'WorkloadAdmitted',
    'WorkloadAdmitted',
  ])
})

it('should record no tick at which nothing is decided, and none at all where time comes with the facts', async () => {
  const log = memoryEventLog()
  const owner = await open(log)
  await right(() => owner.record([nodeOf('n'), policyOf(), submission('a', 8), submission('b', 8)]))
  const size = (await idsIn(log)).length
  await right(() => owner.tick())
  expect(await idsIn(log)).toHaveLength(size)

  const other = memoryEventLog()
  const still = await open(other, { ticks: 'events' })
  await right(() => still.record([nodeOf('n'), policyOf(), submission('a', 8)]))
  await right(() => still.tick())
  expect(await typesIn(other)).not.toContain('Ticked')
  expect(still.now).toBe(0)
})

it('should record once what two requests hand over at the same time', async () => {
  const log = memoryEventLog()
  const owner = await open(log)
  const [one, other] = await Promise.all([
    right(() => owner.record([nodeOf('n')])),
    right(() => owner.record([nodeOf('n'), nodeOf('m')])),
  ])
  expect(E.isRight(one[0]!)).toBe(true)
  expect(other[0]).toEqual(E.left({ type: 'Repeated' }))
  expect(await idsIn(log)).toEqual(['node/n', 'node/m'])
})

it('should give the fault to all in hand, open the stream anew and go on', async () => {
  const inner = memoryEventLog()
  const { log, state } = logThatFills(inner)
  const faults: (AppendFault | null)[] = []
  const owner = await open(log, { faulted: (fault) => faults.push(fault) })
  await right(() => owner.record([nodeOf('n'), policyOf()]))
  state.failing = 1
  const inHand = ['a', 'b', 'c'].map((name) => left(() => owner.record([submission(name, 1)])))
  for (const fault of await Promise.all(inHand)) expect(fault).toMatchObject({ kind: 'full' })
  await expect.poll(() => owner.fault).toBeNull()
  expect(faults).toEqual([expect.objectContaining({ kind: 'full' }), null])
  expect(await idsIn(log)).toHaveLength(2)
  expect(owner.unrecorded).toMatchObject({ kind: 'full' })
  await Promise.all(['a', 'b', 'c'].map((name) => right(() => owner.record([submission(name, 1)]))))
  expect(owner.unrecorded).toBeNull()
  const folded = await right(() => foldCell(inner, cellName))
  expect(takeSnapshot(owner.cell)).toEqual(takeSnapshot(folded.cell))
})

it('should say that what was taken before a fault is gone, though it is asked for after it', async () => {
  const { log, state } = logThatFills(memoryEventLog())
  const owner = await open(log)
  await right(() => owner.record([nodeOf('n'), policyOf()]))
  const slow = owner.request()
  slow.take(submission('slow', 1), 'slow')
  state.failing = 1
  expect(E.isLeft(await owner.record([submission('a', 1)]))).toBe(true)
  await expect.poll(() => owner.fault).toBeNull()
  expect(E.isLeft(await slow.flush())).toBe(true)
  expect(await idsIn(log)).not.toContain('slow')
})

it('should come to the same log as one writer without ticks of its own, however requests cut the script', async () => {
  const script = (await factScript(11, 300)).map(([id, input]) => ({ id, ...input }))
  const digests = new Set<string>()
  for (const pieceMax of [1, 17, 5_000]) {
    const log = memoryEventLog()
    const owner = await open(log, { ticks: 'events' })
    const below = numbersFrom(pieceMax)
    for (let from = 0; from < script.length;) {
      const piece = script.slice(from, from + 1 + below(pieceMax))
      await right(() => owner.record(piece))
      from += piece.length
    }
    digests.add(await right(digestOf(log)))
  }
  expect(digests.size).toBe(1)
})

it('should go on from the snapshot that it kept when it was closed', async () => {
  const log = memoryEventLog()
  const snapshots = snapshotStore(folder())
  const owner = await open(log, { snapshots })
  await right(() => owner.record([nodeOf('n'), policyOf(), submission('a', 8), submission('b', 8)]))
  await owner.close()
  const { snapshot } = await snapshots.load(cellName, log)
  expect(snapshot?.revision).toBe((await idsIn(log)).length - 1)
  const again = await open(log, { snapshots })
  expect(takeSnapshot(again.cell)).toEqual(takeSnapshot((await right(() => foldCell(log, cellName))).cell))
  expect(await left(() => owner.record([submission('c', 1)]))).toMatchObject({ kind: 'closed' })
})
