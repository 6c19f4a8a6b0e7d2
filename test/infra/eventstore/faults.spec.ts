import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { Checkpoint, StoredEvent } from '../../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../../infra/chain/audited-log.ts'
import { verify } from '../../../infra/chain/verify.ts'
import { left, newEvent, newEvents, right } from '../../support/events.ts'
import { KeptStreams, type Proposed } from '../../support/eventstore/kept-streams.ts'
import { openScene, stream, type Scene, type SceneOptions } from '../../support/eventstore/scene.ts'
import type { Mishap } from '../../support/eventstore/stand-in.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})
const scene = async (options: SceneOptions = {}): Promise<Scene> => {
  const opened = await openScene(options)
  scenes.push(opened)
  return opened
}

const idsIn = async (log: AuditedLog): Promise<ReadonlyArray<string>> =>
  (await right(log.readAll(0, 100_000))).map(({ id }) => id)

const until = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 30_000) throw new Error('it did not come about in 30 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Follows the log from its beginning; what it has been handed so far. */
const follow = (log: AuditedLog, handle: (batch: ReadonlyArray<StoredEvent>) => Promise<void> = async () => {}) => {
  let at = -1
  const seen: StoredEvent[] = []
  const checkpoint: Checkpoint = { load: () => Promise.resolve(at), save: (to) => Promise.resolve(void (at = to)) }
  const subscription = log.subscribe(checkpoint, async (batch) => {
    await handle(batch)
    seen.push(...batch)
  })
  return { seen, subscription }
}

const deadlineMs = 300
const paths: ReadonlyArray<readonly [string, SceneOptions]> = [
  ['BatchAppend', {}],
  ['Append', { credentials: 'admin:changeit' }],
]

describe.each(paths)('EventStoreDB client over the wire to a stand-in, %s', (path, options) => {
  const method = path === 'Append' ? 'append' : 'batchAppend'

  it.each<Mishap>(['stored, error', 'stored, silence', 'stored, cut', 'error', 'silence', 'cut', 'late'])(
    'should store an append once and acknowledge it when this befalls it: %s',
    async (mishap) => {
      const { kept, open, server } = await scene({ ...options, deadlineMs, lateMs: 1.5 * deadlineMs })
      const log = await open()
      await right(log.append('cell', -1, newEvents('a', 2)))
      server().mishaps.push(mishap)
      expect(await right(log.append('cell', 1, newEvents('b', 3)))).toEqual({ revision: 4, position: 4 })
      expect(server().mishaps).toEqual([])
      expect(await right(log.append('cell', 4, newEvents('c', 1)))).toEqual({ revision: 5, position: 5 })
      expect(kept.events(stream)).toHaveLength(6)
      expect(await idsIn(log)).toEqual(['a-0', 'a-1', 'b-0', 'b-1', 'b-2', 'c-0'])
      expect(await verify(log)).toMatchObject({ ok: true, events: 6 })
      expect(server().calls.filter((call) => call.startsWith(method)).length).toBeGreaterThan(1)
    },
  )

  it.each<Mishap>(['stored, error', 'late'])(
    'should do the same where the server takes a repeated id for a new one: %s',
    async (mishap) => {
      const kept = new KeptStreams({ knowsRepeats: false })
      const { open, server } = await scene({ ...options, kept, deadlineMs, lateMs: 1.5 * deadlineMs })
      const log = await open()
      server().mishaps.push(mishap)
      expect(await right(log.append('cell', -1, newEvents('a', 3)))).toEqual({ revision: 2, position: 2 })
      expect(kept.events(stream)).toHaveLength(3)
    },
  )

  it('should expect no stream where there is none, and never a revision of -1', async () => {
    const { open, server } = await scene(options)
    const log = await open()
    await right(log.append('cell', -1, newEvents('a', 1)))
    await right(log.append('other', -1, newEvents('a', 1)))
    expect(server().calls.filter((call) => call.startsWith(method))).toEqual([`${method} no_stream`, `${method} 0`])
  })

  it('should say that nobody knows, and store nothing twice when it is sent again after the server is back', async () => {
    const at = await scene({ ...options, deadlineMs })
    const log = await at.open()
    await right(log.append('cell', -1, newEvents('a', 1)))
    at.server().mishaps.push('stored, silence')
    const told = log.append('cell', 0, newEvents('b', 2))()
    await until(() => at.kept.events(stream)!.length === 3)
    at.stop()
    at.wire.cut()
    expect(await told).toMatchObject(E.left({ type: 'LogUnavailable', kind: 'input-output' }))
    expect(await left(log.readAll(0, 10))).toMatchObject({ kind: 'input-output' })
    await at.start()
    expect(await left(log.append('cell', 0, newEvents('b', 2)))).toMatchObject({ actual: 2 })
    expect(await right(log.known('cell', ['b-0', 'b-1', 'c']))).toEqual(new Set(['b-0', 'b-1']))
    expect(await right(log.append('cell', 2, newEvents('c', 1)))).toEqual({ revision: 3, position: 3 })
    expect(at.kept.events(stream)).toHaveLength(4)
  })

  it('should store what was not stored when it is sent again after the server is back', async () => {
    const at = await scene({ ...options, deadlineMs })
    const log = await at.open()
    await right(log.append('cell', -1, newEvents('a', 1)))
    at.stop()
    expect(await left(log.append('cell', 0, newEvents('b', 2)))).toMatchObject({ kind: 'input-output' })
    await at.start()
    expect(await right(log.append('cell', 0, newEvents('b', 2)))).toEqual({ revision: 2, position: 2 })
    expect(at.kept.events(stream)).toHaveLength(3)
  })

  it('should tell a writer who comes too late what the other has written', async () => {
    const { open } = await scene(options)
    const [one, other] = [await open(), await open()]
    await right(one.append('cell', -1, newEvents('a', 2)))
    const refused = { type: 'WrongExpectedRevision', stream: 'cell', expected: -1, actual: 1 }
    expect(await left(other.append('cell', -1, newEvents('b', 1)))).toEqual(refused)
    expect(await right(other.append('cell', 1, newEvents('b', 1)))).toEqual({ revision: 2, position: 2 })
    expect(await right(one.append('cell', 2, newEvents('c', 1)))).toEqual({ revision: 3, position: 3 })
    expect(await left(one.append('cell', 3, [newEvent('b-0')]))).toMatchObject({ type: 'DuplicateId', id: 'b-0' })
  })

  it('should not take the event of another with the same id for its own', async () => {
    const { kept, open } = await scene(options)
    const [one, other] = [await open(), await open()]
    const told = await Promise.all([
      one.append('cell', -1, [newEvent('tick', { of: 'one' })])(),
      other.append('cell', -1, [newEvent('tick', { of: 'other' })])(),
    ])
    expect(told.filter(E.isRight)).toHaveLength(1)
    expect(kept.events(stream)).toHaveLength(1)
    const of = E.isRight(told[0]) ? 'one' : 'other'
    for (const log of [one, other]) {
      await right(log.append('next', (await right(log.heads())).length - 2, [newEvent(log === one ? 'x' : 'y')]))
      expect((await right(log.readAll(0, 1)))[0]!.message.data).toEqual({ of })
      expect(await verify(log)).toMatchObject({ ok: true })
    }
  })

  it('should let two writers go on side by side, each in a stream of its own', async () => {
    const { kept, open } = await scene(options)
    const logs = [await open(), await open()]
    const appended = logs.map(async (log, n) => {
      for (let i = 0; i < 20; i++) await right(log.append(`cell-${n}`, i - 1, [newEvent(`e-${i}`)]))
    })
    await Promise.all(appended)
    expect(kept.events(stream)).toHaveLength(40)
    for (const log of logs) {
      await left(log.append('none', 7, [newEvent('x')])) // Whoever is refused has looked.
      expect(await verify(log)).toMatchObject({ ok: true, events: 40 })
    }
  })

  it('should store whole, or not at all, what is larger than the server takes at once', async () => {
    const at = await scene({ ...options, deadlineMs: 1_000 })
    const log = await at.open()
    await right(log.append('cell', -1, newEvents('a', 1)))
    const big = Array.from({ length: 30 }, (_, i) => newEvent(`big-${i}`, { text: 'x'.repeat(60_000) }))
    at.server().mishaps.push('none', 'none', ...Array.from({ length: 1_000 }, (): Mishap => 'error'))
    expect(await left(log.append('cell', 0, big))).toMatchObject({ kind: 'input-output' })
    expect(at.kept.events(stream)!.length).toBeGreaterThan(1)
    const reader = await at.open({ readOnly: true })
    expect(await idsIn(reader)).toEqual(['a-0'])
    at.server().mishaps.length = 0
    const other = await at.open()
    expect(await right(other.append('cell', 0, newEvents('b', 1)))).toEqual({ revision: 1, position: 1 })
    expect(await left(log.append('cell', 0, big))).toMatchObject({ actual: 1 })
    expect(await right(log.append('cell', 1, big))).toEqual({ revision: 31, position: 31 })
    const ids = ['a-0', 'b-0', ...big.map(({ id }) => id)]
    for (const each of [log, await at.open()]) {
      expect(await idsIn(each)).toEqual(ids)
      expect((await right(each.readAll(1, 3))).map(({ id }) => id)).toEqual(ids.slice(1, 4))
      expect(await verify(each)).toMatchObject({ ok: true, events: 32 })
    }
  })

  it('should refuse an event that the server never takes', async () => {
    const { kept, open } = await scene(options)
    const log = await open()
    const fault = await left(log.append('cell', -1, [newEvent('huge', { text: 'x'.repeat(1_100_000) })]))
    expect(fault).toMatchObject({ kind: 'full', mend: 'raise MaxAppendSize of the server' })
    expect(kept.events(stream)).toBe(null)
    await right(log.append('cell', -1, newEvents('a', 1)))
  })
})

describe('EventStoreDB client over the wire to a stand-in: those who follow', () => {
  it('should go on when the server restarts under a subscription', async () => {
    const at = await scene({ deadlineMs: 1_000 })
    const [log, other] = [await at.open(), await at.open()]
    await right(other.append('cell', -1, newEvents('a', 3)))
    const { seen, subscription } = follow(log)
    await until(() => seen.length === 3)
    at.stop()
    await left(other.append('cell', 2, newEvents('lost', 1)))
    await at.start()
    await right(other.append('cell', 2, newEvents('b', 3)))
    await until(() => seen.length === 6)
    at.server().drop()
    await right(other.append('cell', 5, newEvents('c', 3)))
    await until(() => seen.length === 9)
    expect(seen).toEqual(await right(log.readAll(0, 100)))
    await subscription.stop()
    await subscription.ended
  })

  it('should deliver all to a slow subscriber, in its own time, though the server drops who does not keep up', async () => {
    const at = await scene()
    const [log, other] = [await at.open({}), await at.open()]
    await right(other.append('cell', -1, newEvents('a', 3_000)))
    let release: () => void = () => undefined
    let batches = 0
    const { seen, subscription } = follow(log, (batch) => {
      expect(batch.length).toBeLessThanOrEqual(1_000)
      batches++
      return new Promise((resolve) => (release = resolve))
    })
    await until(() => batches === 1)
    at.server().drop()
    await right(other.append('cell', 2_999, newEvents('b', 3_000)))
    expect(seen).toHaveLength(0)
    while (seen.length < 6_000) {
      release()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(seen.map(({ position }) => position)).toEqual(seen.map((_, i) => i))
    await subscription.stop()
  })

  it('should not be left behind by a subscription that is alive and tells nothing', async () => {
    const at = await scene({ deadlineMs, silent: true })
    const [log, other] = [await at.open(), await at.open()]
    const { seen, subscription } = follow(log)
    await right(other.append('cell', -1, newEvents('a', 3)))
    await until(() => seen.length === 3)
    await subscription.stop()
  })

  it('should hear of nothing while no bytes come, and of all of it then', async () => {
    const at = await scene({ deadlineMs })
    const log = await at.open()
    await right(log.append('cell', -1, newEvents('a', 1)))
    const { seen, subscription } = follow(log)
    await until(() => seen.length === 1)
    at.wire.stall()
    expect(await left(log.append('cell', 0, newEvents('b', 1)))).toMatchObject({ kind: 'input-output' })
    at.wire.flow()
    const { actual } = (await left(log.append('cell', 7, []))) as { actual: number }
    if (actual === 0) await right(log.append('cell', 0, newEvents('b', 1)))
    await until(() => seen.length === 2)
    await subscription.stop()
    expect(at.kept.events(stream)).toHaveLength(2)
  })
})

describe('EventStoreDB client over the wire to a stand-in: damage', () => {
  const filled = async (): Promise<Scene & { readonly events: ReadonlyArray<Proposed> }> => {
    const at = await scene()
    const log = await at.open()
    await right(log.append('cell', -1, newEvents('a', 4)))
    await log.close()
    return { ...at, events: at.kept.events(stream)! }
  }
  const altered = ({ data, ...rest }: Proposed, from: string, to: string): Proposed => ({
    ...rest,
    data: Buffer.from(Buffer.from(data).toString('utf8').replace(from, to)),
  })

  it.each<readonly [string, number, (events: ReadonlyArray<Proposed>) => ReadonlyArray<Proposed>]>([
    ['an event that was changed', 2, (all) => all.map((event, i) => (i === 2 ? altered(event, 'a-2', 'x-2') : event))],
    ['an event of somebody else', 4, (all) => [...all, { ...all[0]!, data: Buffer.from('{"hello":"world"}') }]],
    ['an event without content', 4, (all) => [...all, { ...all[0]!, data: Buffer.from('') }]],
    ['an event that is missing', 1, (all) => [all[0]!, ...all.slice(2)]],
    ['an event that is there twice', 2, (all) => [...all.slice(0, 2), ...all.slice(1)]],
  ])('should find %s', async (_, position, damage) => {
    const { events, kept, tryToOpen } = await filled()
    kept.replace(stream, damage(events))
    for (const readOnly of [true, false])
      expect(await tryToOpen({ readOnly })).toMatchObject(E.left({ kind: 'damaged', position }))
  })

  it('should build on nothing when the end of the stream is gone, or all of it', async () => {
    for (const remain of [2, 0]) {
      const at = await filled()
      const log = await at.open()
      at.kept.replace(stream, at.events.slice(0, remain))
      expect(await left(log.append('cell', 3, newEvents('b', 1)))).toMatchObject({ kind: 'damaged' })
      expect(at.kept.events(stream)).toHaveLength(remain)
    }
  })

  it('should stop at what somebody else writes into the stream of an open log', async () => {
    const at = await filled()
    const log = await at.open()
    at.kept.append(stream, 3, [{ ...at.events[0]!, id: 'x', data: Buffer.from('{}') }])
    expect(await left(log.append('cell', 3, newEvents('b', 1)))).toMatchObject({ kind: 'damaged', position: 4 })
    expect(await left(log.readAll(0, 10))).toMatchObject({ kind: 'damaged', position: 4 })
    expect(at.kept.events(stream)).toHaveLength(5)
  })

  it('should say that there is no log to be read', async () => {
    const { tryToOpen } = await scene()
    expect(await tryToOpen({ readOnly: true })).toMatchObject(E.left({ kind: 'absent' }))
  })

  it('should append nothing where it was opened to read', async () => {
    const at = await filled()
    const log = await at.open({ readOnly: true })
    expect(await left(log.append('cell', 3, newEvents('b', 1)))).toMatchObject({ kind: 'read-only' })
  })
})
