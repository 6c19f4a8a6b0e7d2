import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Checkpoint, Envelope, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { headOf } from '../../infra/chain/chain-head.ts'
import { exportLines } from '../../infra/chain/export.ts'
import { digestOf, logDigest } from '../../infra/chain/log-digest.ts'
import { verify } from '../../infra/chain/verify.ts'
import { expectSame, fillSmall, left, newEvent, newEvents, right, seenBy } from '../support/events.ts'

/** A fresh place for a log, and how it is opened there, the first time and again. */
export interface LogPlace {
  readonly open: () => Promise<AuditedLog>
}

const limit = 1_000_000
const memoryCheckpoint = (position = -1): Checkpoint & { readonly at: () => number } => ({
  load: () => Promise.resolve(position),
  save: (handled) => {
    position = handled
    return Promise.resolve()
  },
  at: () => position,
})
/** An adapter may give the rest of the event too. */
const envelopeOf = ({ id, source, actor, recordTime, causation, correlation, policy }: Envelope): Envelope => ({
  id,
  source,
  actor,
  recordTime,
  causation,
  correlation,
  policy,
})
const until = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds(); waited += 5) {
    if (waited > 10_000) throw new Error('it did not come about in 10 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const eventLogContract = (name: string, place: () => LogPlace): void => {
  describe(name, () => {
    const closing: (() => Promise<void>)[] = []
    const opened = async (at = place()): Promise<AuditedLog> => {
      const log = await at.open()
      closing.push(log.close)
      return log
    }
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })

    it('should give back what was appended, with its place and its chain', async () => {
      const log = await opened()
      expect(await right(log.append('cell-a', -1, newEvents('a', 2)))).toEqual({ revision: 1, position: 1 })
      expect(await right(log.append('cell-b', -1, newEvents('a', 1)))).toEqual({ revision: 0, position: 2 })
      expect(await right(log.append('cell-a', 1, newEvents('c', 1)))).toEqual({ revision: 2, position: 3 })
      const all = await right(log.readAll(0, limit))
      expect(all.map(({ position, stream, revision, id }) => [position, stream, revision, id])).toEqual([
        [0, 'cell-a', 0, 'a-0'],
        [1, 'cell-a', 1, 'a-1'],
        [2, 'cell-b', 0, 'a-0'],
        [3, 'cell-a', 2, 'c-0'],
      ])
      expect(all[0]).toEqual({
        ...newEvents('a', 2)[0],
        position: 0,
        stream: 'cell-a',
        revision: 0,
        previousHash: '0'.repeat(64),
        hash: all[0]!.hash,
      })
      expect(all[0]!.hash).toMatch(/^[0-9a-f]{64}$/)
      expect(all[1]!.previousHash).toBe(all[0]!.hash)
      expect(all[2]!.previousHash).toBe('0'.repeat(64))
      expect(all[3]!.previousHash).toBe(all[1]!.hash)
      expect(await right(log.readStream('cell-a', 0, limit))).toEqual([all[0], all[1], all[3]])
      const ofA = [all[0]!, all[1]!, all[3]!]
      expect(await right(log.readMessages('cell-a', 0, limit))).toEqual(ofA.map(({ message }) => message))
      expect((await right(log.readEnvelopes('cell-a', 0, limit))).map(envelopeOf)).toEqual(ofA.map(envelopeOf))
      expect(await right(log.heads())).toEqual([
        { stream: 'cell-a', size: 3, hash: all[3]!.hash },
        { stream: 'cell-b', size: 1, hash: all[2]!.hash },
      ])
    })

    it('should refuse an append that expects another revision, and store nothing of it', async () => {
      const log = await opened()
      await right(log.append('cell', -1, newEvents('a', 2)))
      for (const expected of [-1, 0, 2, 7])
        expect(await left(log.append('cell', expected, newEvents('x', 3)))).toEqual({
          type: 'WrongExpectedRevision',
          stream: 'cell',
          expected,
          actual: 1,
        })
      expect(await left(log.append('new', 0, newEvents('x', 1)))).toMatchObject({ actual: -1 })
      expect(await right(log.readAll(0, limit))).toHaveLength(2)
      expect(await right(log.append('cell', 1, newEvents('x', 1)))).toEqual({ revision: 2, position: 2 })
    })

    it('should refuse an id that its stream holds, with all that came with it', async () => {
      const log = await opened()
      await right(log.append('cell', -1, newEvents('a', 2)))
      const refused = { type: 'DuplicateId', stream: 'cell', id: 'a-1' }
      expect(await left(log.append('cell', 1, [newEvent('b'), newEvent('a-1'), newEvent('c')]))).toEqual(refused)
      expect(await left(log.append('cell', 1, [newEvent('d'), newEvent('d')]))).toEqual({ ...refused, id: 'd' })
      expect(await right(log.known('cell', ['a-0', 'b', 'c', 'd']))).toEqual(new Set(['a-0']))
      expect(await right(log.append('other', -1, [newEvent('a-1')]))).toEqual({ revision: 0, position: 2 })
      expect(await right(log.append('cell', 1, [newEvent('b')]))).toEqual({ revision: 2, position: 3 })
      expect((await verify(log)).findings).toEqual([])
    })

    it('should decide appends that wait together one after the other', async () => {
      const log = await opened()
      const tasks = [
        log.append('cell', -1, newEvents('a', 2)),
        log.append('cell', -1, newEvents('b', 2)),
        log.append('cell', 1, [newEvent('c'), newEvent('a-0')]),
        log.append('cell', 1, newEvents('d', 1)),
        log.append('other', -1, newEvents('a', 1)),
        log.append('cell', 2, []),
      ]
      const order: number[] = []
      const outcomes = await Promise.all(
        tasks.map(async (task, i) => {
          const outcome = await task()
          order.push(i)
          return outcome
        }),
      )
      expect(outcomes).toEqual([
        E.right({ revision: 1, position: 1 }),
        E.left({ type: 'WrongExpectedRevision', stream: 'cell', expected: -1, actual: 1 }),
        E.left({ type: 'DuplicateId', stream: 'cell', id: 'a-0' }),
        E.right({ revision: 2, position: 2 }),
        E.right({ revision: 0, position: 3 }),
        E.right({ revision: 2, position: 3 }),
      ])
      expect(order).toEqual([0, 1, 2, 3, 4, 5])
      expect((await right(log.readAll(0, limit))).map(({ id }) => id)).toEqual(['a-0', 'a-1', 'd-0', 'a-0'])
    })

    it('should acknowledge concurrent appends in order, and hold each', async () => {
      const log = await opened()
      const acknowledged: number[] = []
      const appends = Array.from({ length: 6_000 }, (_, i) => async () => {
        acknowledged.push((await right(log.append('cell', i - 1, [newEvent(`e-${i}`)]))).position)
      })
      await Promise.all(appends.map((append) => append()))
      expect(acknowledged).toEqual(appends.map((_, i) => i))
      expect((await right(log.readMessages('cell', 0, limit))).length).toBe(6_000)
      expect(await verify(log)).toMatchObject({ ok: true, events: 6_000 })
    })

    it('should let one of several racing writers win', async () => {
      const log = await opened()
      const outcomes = await Promise.all([1, 2, 3, 4].map((n) => log.append('cell', -1, newEvents(`w${n}`, 2))()))
      expect(outcomes.filter(E.isRight)).toHaveLength(1)
    })

    it('should ask to come back when too much waits', async () => {
      const log = await opened()
      const big = log.append('cell', -1, newEvents('a', 40_000))()
      const busy = log.append('other', -1, newEvents('b', 40_000))()
      expect(await busy).toMatchObject(E.left({ type: 'LogUnavailable', kind: 'busy' }))
      expect(await big).toEqual(E.right({ revision: 39_999, position: 39_999 }))
    })

    it('should page without gaps or repeats', async () => {
      const log = await opened()
      await right(log.append('a', -1, newEvents('a', 700)))
      await right(log.append('b', -1, newEvents('b', 5)))
      await right(log.append('a', 699, newEvents('c', 600)))
      const all = await right(log.readAll(0, limit))
      expect(all.map(({ position }) => position)).toEqual(all.map((_, i) => i))
      for (const size of [1, 255, 256, 257, 600, 1_305]) {
        const paged: StoredEvent[] = []
        const step = size === 1 ? 1_000 : size // One at a time only near the end.
        for (let at = size === 1 ? 1_290 : 0; at < 1_305; at += size === 1 ? 1 : step)
          paged.push(...(await right(log.readAll(at, size))))
        expect(paged).toEqual(all.slice(size === 1 ? 1_290 : 0))
      }
      const messages = await right(log.readMessages('a', 0, limit))
      expect(messages).toHaveLength(1_300)
      expect(await right(log.readMessages('a', 690, 20))).toEqual(messages.slice(690, 710))
      const some = await right(log.readStream('a', 690, 20))
      expect(some.map(({ message }) => message)).toEqual(messages.slice(690, 710))
      expect((await right(log.readEnvelopes('a', 690, 20))).map(envelopeOf)).toEqual(some.map(envelopeOf))
      for (const read of [log.readAll(1_305, 10), log.readStream('a', 1_300, 10), log.readStream('none', 0, 10)])
        expect(await right(read)).toEqual([])
      expect(await right(log.readMessages('none', 0, 10))).toEqual([])
      expect(await right(log.readMessages('a', 0, 0))).toEqual([])
      expect(await right(log.readEnvelopes('none', 0, 10))).toEqual([])
      expect(await right(log.readEnvelopes('a', 0, 0))).toEqual([])
      expect(await right(log.heads())).toMatchObject([{ size: 1_300 }, { size: 5 }])
    })

    it('should keep any JSON and any names as they are', async () => {
      const log = await opened()
      const odd: { readonly [key: string]: Json } = {
        '': null,
        __proto__: JSON.parse('{"__proto__":{"polluted":true}}') as Json,
        'a"b\\c\n': ['\u0000\u001f\u007f\u2028\u2029', '\ud800', 'é😀', -0.5, 1e300, true, [], {}],
      }
      await right(
        log.append('zelle/größe-😀', -1, [
          newEvent('id "quoted" \\ \n \u2028 😀', odd, { actor: 'ä"', causation: '', correlation: 'c\\', policy: 'p' }),
          newEvent('empty', {}, { type: 'Ticked', at: 0 }),
        ]),
      )
      const [first, second] = await right(log.readAll(0, limit))
      expect(first).toMatchObject({ actor: 'ä"', causation: '', correlation: 'c\\', policy: 'p' })
      expect(JSON.stringify(first!.message.data)).toBe(JSON.stringify(odd))
      expect(second!.message).toEqual({ type: 'Ticked', at: 0, data: {} })
      const envelopes = await right(log.readEnvelopes('zelle/größe-😀', 0, 5))
      expect(envelopes.map(envelopeOf)).toEqual([first!, second!].map(envelopeOf))
      expect(JSON.stringify(await right(log.readMessages('zelle/größe-😀', 0, 5)))).toBe(
        JSON.stringify([first!.message, second!.message]),
      )
      expect(await right(log.known('zelle/größe-😀', ['id "quoted" \\ \n \u2028 😀', 'x']))).toHaveProperty('size', 1)
      expect((await verify(log)).findings).toEqual([])
    })

    it('should sort its heads by byte, not by UTF-16 unit', async () => {
      const log = await opened()
      for (const stream of ['b', '\u{1f600}', '\uff5e', 'a']) await right(log.append(stream, -1, [newEvent('x')]))
      expect((await right(log.heads())).map(({ stream }) => stream)).toEqual(['a', 'b', '\uff5e', '\u{1f600}'])
    })

    it('should hold what any sequence of appends makes of it', async () => {
      const appends = fc.array(
        fc.record({
          stream: fc.constantFrom('a', 'b', 'c'),
          ids: fc.array(fc.constantFrom('p', 'q', 'r', 's', 't', 'u'), { maxLength: 3 }),
          off: fc.constantFrom(0, 0, 0, 1),
        }),
        { maxLength: 12 },
      )
      await fc.assert(
        fc.asyncProperty(appends, async (steps) => {
          const log = await place().open()
          const held = new Map<string, string[]>([
            ['a', []],
            ['b', []],
            ['c', []],
          ])
          const outcomes = steps.map(({ stream, ids, off }) => {
            const own = held.get(stream)!
            const expected = own.length - 1 + off
            const isStored = off === 0 && new Set([...own, ...ids]).size === own.length + ids.length
            if (isStored) own.push(...ids)
            return {
              task: log.append(
                stream,
                expected,
                ids.map((id) => newEvent(id)),
              )(),
              isStored,
            }
          })
          for (const { task, isStored } of outcomes) expect(E.isRight(await task)).toBe(isStored)
          for (const [stream, ids] of held)
            expect((await right(log.readStream(stream, 0, limit))).map(({ id }) => id)).toEqual(ids)
          expect((await verify(log)).findings).toEqual([])
          await log.close()
        }),
        { numRuns: 25 },
      )
    })

    it('should not be changed by readers', async () => {
      const log = await opened()
      await fillSmall(log)
      const before = await seenBy(log, ['cell-a', 'cell-b'], ['a-0', 'nobody'])
      const [event] = await right(log.readAll(0, 1))
      Object.assign(event!.message.data, { workload: 'changed' })
      await right(log.readMessages('none', 0, 5))
      await right(log.known('none', ['x']))
      await verify(log)
      expectSame(await seenBy(log, ['cell-a', 'cell-b'], ['a-0', 'nobody']), before)
      expect((await right(log.heads())).map(({ stream }) => stream)).toEqual(['cell-a', 'cell-b'])
    })

    it('should deliver what is there, then what comes, and go on after a restart', async () => {
      const log = await opened()
      await right(log.append('a', -1, newEvents('a', 1_500)))
      const checkpoint = memoryCheckpoint()
      const seen: number[] = []
      const watch = (): Subscription =>
        log.subscribe(checkpoint, (batch) => {
          for (const { position } of batch) seen.push(position)
          return Promise.resolve()
        })
      const first = watch()
      await until(() => seen.length === 1_500)
      await right(log.append('b', -1, newEvents('b', 2)))
      await until(() => checkpoint.at() === 1_501)
      await first.stop()
      await first.ended
      await right(log.append('b', 1, newEvents('c', 1)))
      expect(seen).toHaveLength(1_502)
      const second = watch()
      await until(() => seen.length === 1_503)
      await second.stop()
      expect(seen).toEqual(seen.map((_, i) => i))
    })

    it('should deliver what comes just as it is read, also of a batch of which a part was refused', async () => {
      const log = await opened()
      const seen: StoredEvent[] = []
      const watching = log.subscribe(memoryCheckpoint(), (batch) => Promise.resolve(void seen.push(...batch)))
      const appended = [fillSmall(log), ...['x', 'x', 'y'].map((id) => log.append(id, -1, [newEvent(id)])())]
      await Promise.all(appended)
      expect(await left(log.append('z', -1, [newEvent('new'), newEvent('twice'), newEvent('twice')]))).toMatchObject({
        type: 'DuplicateId',
      })
      await right(log.append('z', -1, [newEvent('last')]))
      await until(() => seen.at(-1)?.id === 'last')
      await watching.stop()
      expectSame(seen, await right(log.readAll(0, 1_000)))
    })

    it('should deliver again what was not handled, and end with what the handler threw', async () => {
      const log = await opened()
      await right(log.append('a', -1, newEvents('a', 3)))
      const checkpoint = memoryCheckpoint()
      const failing = log.subscribe(checkpoint, () => Promise.reject(new Error('no')))
      await expect(failing.ended).rejects.toThrow('no')
      await failing.stop()
      expect(checkpoint.at()).toBe(-1)
      const seen: string[] = []
      const again = log.subscribe(checkpoint, (batch) => Promise.resolve(void seen.push(...batch.map(({ id }) => id))))
      await until(() => checkpoint.at() === 2)
      await again.stop()
      expect(seen).toEqual(['a-0', 'a-1', 'a-2'])
    })

    it('should refuse everything once it has been closed, after what waited', async () => {
      const log = await opened()
      const waiting = log.append('a', -1, newEvents('a', 1))()
      const watching = log.subscribe(memoryCheckpoint(), () => Promise.resolve())
      await log.close()
      await log.close()
      expect(await waiting).toEqual(E.right({ revision: 0, position: 0 }))
      const closed = { type: 'LogUnavailable', kind: 'closed' }
      expect(await left(log.append('a', 0, newEvents('b', 1)))).toMatchObject(closed)
      expect(await left(log.readAll(0, 1))).toMatchObject(closed)
      expect(await left(log.readMessages('a', 0, 1))).toMatchObject(closed)
      expect(await left(log.readEnvelopes('a', 0, 1))).toMatchObject(closed)
      expect(await left(log.known('a', ['x']))).toMatchObject(closed)
      expect(await left(log.heads())).toMatchObject(closed)
      await expect(watching.ended).rejects.toMatchObject({ cause: closed })
    })

    it('should be there again when it is opened again', async () => {
      const at = place()
      const log = await at.open()
      await fillSmall(log)
      const before = await seenBy(log, ['cell-a', 'cell-b'], ['a-0', 'b-1', 'x'])
      const head = await right(headOf(log))
      await log.close()
      const again = await opened(at)
      expectSame(await seenBy(again, ['cell-a', 'cell-b'], ['a-0', 'b-1', 'x']), before)
      expect(await verify(again, head)).toMatchObject({ ok: true, head })
      expect(await left(again.append('cell-b', 2, [newEvent('b-1')]))).toMatchObject({ type: 'DuplicateId' })
      expect(await right(again.append('cell-b', 2, [newEvent('c')]))).toEqual({ revision: 3, position: 8 })
      expect(await verify(again, head)).toMatchObject({ ok: true, events: 9 })
    })

    it('should have one head, digest and export whatever keeps it', async () => {
      const log = await opened()
      await fillSmall(log)
      const lines: string[] = []
      for await (const line of exportLines(log)) lines.push(await right(() => Promise.resolve(line)))
      expect(lines[6]).toBe(
        `{"position":6,"stream":"cell-b","revision":1,"version":1,"meta":{"actor":"simulation","id":"b-0","recordTime":2000,"source":"openb"},"message":{"at":1000,"data":{"n":0,"workload":"b-0"},"type":"WorkloadSubmitted"},"previousHash":"b6b3e2","hash":""}`
          .replace('b6b3e2', lines[4]!.slice(-66, -2))
          .replace('"hash":""', `"hash":"${lines[6]!.slice(-66, -2)}"`),
      )
      expect(await right(headOf(log))).toMatchInlineSnapshot(`
        {
          "hash": "77841839c719f5e282962251dfeabd34200b0a5234849478716f3e7f0964f229",
          "size": 8,
        }
      `)
      const digest = await right(digestOf(log))
      expect(digest).toMatchInlineSnapshot(`"9bf8da744159a3ac4d36b2b4103985f430eacfba7c1987aa3a80a072c8130806"`)
      const built = logDigest()
      for (const { stream, message } of await right(log.readAll(0, limit))) built.add(stream, message)
      expect(built.value()).toBe(digest)
    })
  })
}
