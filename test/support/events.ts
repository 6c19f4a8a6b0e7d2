import { either as E } from 'fp-ts'
import { expect } from 'vitest'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { EventLog, NewEvent } from '../../domain/ports/event-log.ts'

/** An event as a source hands it over; what a test does not care about is made up. */
export const newEvent = (
  id: string,
  data: { readonly [key: string]: Json } = { workload: id },
  more: Partial<NewEvent> & { readonly type?: string; readonly at?: number } = {},
): NewEvent => {
  const { type = 'WorkloadSubmitted', at = 1_000, ...rest } = more
  return {
    id,
    message: { type, at: at as EpochMs, data },
    version: 1,
    source: 'openb',
    actor: 'simulation',
    recordTime: 2_000 as EpochMs,
    causation: null,
    correlation: null,
    policy: null,
    ...rest,
  }
}

export const newEvents = (prefix: string, count: number): ReadonlyArray<NewEvent> =>
  Array.from({ length: count }, (_, i) =>
    newEvent(`${prefix}-${i}`, { n: i, workload: `${prefix}-${i}` }, { at: 1_000 + i }),
  )

/** The `Right`, or a failed test that shows the `Left`. */
export const right = async <L, A>(task: () => Promise<E.Either<L, A>>): Promise<A> => {
  const either = await task()
  if (E.isLeft(either)) throw new Error(`unexpected: ${JSON.stringify(either.left)}`)
  return either.right
}

export const left = async <L, A>(task: () => Promise<E.Either<L, A>>): Promise<L> => {
  const either = await task()
  if (E.isRight(either)) throw new Error(`unexpected: ${JSON.stringify(either.right)}`)
  return either.left
}

/** A small log of two interleaved streams: single events and batches, all kinds of members. */
export const fillSmall = async (log: EventLog): Promise<void> => {
  const policy = 'c0ffee'.repeat(6)
  await right(
    log.append('cell-a', -1, [newEvent('policy', { document: { name: 'Größe "ü" 😀' } }, { actor: 'u-4711' })]),
  )
  await right(log.append('cell-a', 0, newEvents('a', 3)))
  await right(log.append('cell-b', -1, [newEvent('tick', {}, { type: 'Ticked', at: 7 })]))
  await right(
    log.append('cell-a', 3, [
      newEvent(
        'a-0/admitted',
        { lease: [{ devices: [0, 1], milli: 1000 }] },
        { type: 'WorkloadAdmitted', causation: 'a-0', correlation: 'a-0', policy },
      ),
    ]),
  )
  await right(log.append('cell-b', 0, newEvents('b', 2)))
}

/** Everything that the readers of a log can see, or the kinds of the faults that they get instead. */
export const seenBy = async (
  log: EventLog,
  streams: ReadonlyArray<string>,
  ids: ReadonlyArray<string>,
): Promise<unknown> => {
  const see = async <A>(task: () => Promise<E.Either<{ readonly kind: string }, A>>): Promise<unknown> => {
    const either = await task()
    return E.isLeft(either) ? either.left.kind : either.right
  }
  const perStream = await Promise.all(
    streams.map(async (stream) => ({
      events: await see(log.readStream(stream, 0, 1_000)),
      messages: await see(log.readMessages(stream, 0, 1_000)),
      known: await see(async () => {
        const known = await log.known(stream, ids)()
        return E.isLeft(known) ? known : E.right([...known.right].sort())
      }),
    })),
  )
  return { all: await see(log.readAll(0, 1_000)), heads: await see(log.heads()), perStream }
}

export const expectSame = (seen: unknown, before: unknown): void => {
  expect(JSON.stringify(seen)).toBe(JSON.stringify(before))
}
