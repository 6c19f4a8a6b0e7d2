import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { EventOrder, type Ordered } from '../../../services/ingest/event-order.ts'

const entry = (at: number, item: string, source = 's', sequence = 0): Ordered<string> => ({
  at: at as EpochMs,
  source,
  sequence,
  item,
})
const place = (partition: number, behind = 0) => ({ topic: 't', partition, behind })
const places = (count: number) => Array.from({ length: count }, (_, partition) => ({ topic: 't', partition }))

const ordering = (gatherMaxMs = 60_000) => {
  const recorded: string[] = []
  const order = new EventOrder<string>(gatherMaxMs, (items) => {
    recorded.push(...items)
    return Promise.resolve()
  })
  return { order, recorded }
}

it('should record what partitions hold in the order of time, source and sequence, however it is cut into batches', async () => {
  const fact = fc.record({ at: fc.nat(20), source: fc.constantFrom('a', 'b') })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fact, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      fc.nat(3),
      async (given, more) => {
        // Sources send in the order of time; the sequence counts over all that there is.
        const held = given.map((facts, partition) =>
          [...facts]
            .sort((a, b) => a.at - b.at)
            .map(({ at, source }, offset) => entry(at, `${partition}/${offset}`, source, partition * 100 + offset)),
        )
        const { order, recorded } = ordering()
        // A partition without anything never delivers, and is not waited for here.
        order.assigned(places(held.length).filter(({ partition }) => held[partition]!.length > 0))
        const read = async (partition: number): Promise<void> => {
          for (let from = 0; from < held[partition]!.length;) {
            const batch = held[partition]!.slice(from, from + 1 + more)
            from += await order.offer(place(partition, held[partition]!.length - from - batch.length), batch)
          }
        }
        await Promise.all(held.map((_, partition) => read(partition)))
        const sorted = held
          .flat()
          .sort(
            (a, b) => a.at! - b.at! || (a.source < b.source ? -1 : a.source > b.source ? 1 : a.sequence - b.sequence),
          )
        const exact = sorted.map(({ item }) => item)
        // Of one instant more than a batch holds cannot be told to be all: then time alone orders.
        const isTied = held.some((facts) => facts.some(({ at }, i) => facts[i + 1 + more]?.at === at))
        if (isTied) expect([...recorded].sort()).toEqual([...exact].sort())
        else expect(recorded).toEqual(exact)
      },
    ),
  )
})

it('should leave what is behind the watermark where it is, and wait for nobody that was read to the end', async () => {
  const { order, recorded } = ordering()
  order.assigned(places(2))
  const ahead = order.offer(place(0, 5), [entry(10, 'a'), entry(90, 'b')])
  const behind = order.offer(place(1, 5), [entry(5, 'c'), entry(20, 'd')])
  expect(await Promise.all([ahead, behind])).toEqual([1, 1])
  expect(recorded).toEqual(['c', 'a'])
  // More of that instant may be behind it, and before it in the order.
  const next = order.offer(place(0, 5), [entry(90, 'b')])
  expect(await Promise.all([next, order.offer(place(1), [entry(20, 'd')])])).toEqual([0, 1])
  expect(recorded).toEqual(['c', 'a', 'd'])
  // Here all is of one instant, and the other partition has nothing more.
  expect(await order.offer(place(0, 5), [entry(90, 'b')])).toBe(1)
  expect(recorded).toEqual(['c', 'a', 'd', 'b'])
  // It goes on alone, though what comes of the other may be late then.
  expect(await order.offer(place(0), [entry(100, 'e')])).toBe(1)
  expect(await order.offer(place(1), [entry(30, 'late')])).toBe(1)
  expect(recorded).toEqual(['c', 'a', 'd', 'b', 'e', 'late'])
})

it('should not wait for ever for a partition that gives nothing', async () => {
  vi.useFakeTimers()
  try {
    const { order, recorded } = ordering(500)
    order.assigned(places(2))
    const offered = order.offer(place(0), [entry(1, 'a')])
    await vi.advanceTimersByTimeAsync(499)
    expect(recorded).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(await offered).toBe(1)
    expect(await order.offer(place(0), [entry(2, 'b')])).toBe(1)
  } finally {
    vi.useRealTimers()
  }
})

it('should wait no longer for a partition that is another’s', async () => {
  const { order, recorded } = ordering()
  order.assigned(places(2))
  const offered = order.offer(place(0), [entry(1, 'a')])
  order.assigned(places(1))
  expect(await offered).toBe(1)
  expect(recorded).toEqual(['a'])
})

it('should keep what has no time with what is before it', async () => {
  const { order, recorded } = ordering()
  order.assigned(places(2))
  const none = { ...entry(0, 'no fact'), at: null }
  const first = order.offer(place(0), [entry(50, 'a'), none])
  expect(await Promise.all([first, order.offer(place(1), [entry(60, 'b')])])).toEqual([2, 1])
  expect(recorded).toEqual(['a', 'no fact', 'b'])
})

it('should settle nobody with what was not recorded, and wait for all of it to come again', async () => {
  let fails = true
  const recorded: string[] = []
  const order = new EventOrder<string>(60_000, (items) => {
    if (fails) return Promise.reject(new Error('full'))
    recorded.push(...items)
    return Promise.resolve()
  })
  order.assigned(places(2))
  const offered = () => [order.offer(place(0), [entry(2, 'b')]), order.offer(place(1), [entry(1, 'a')])]
  for (const outcome of await Promise.allSettled(offered())) expect(outcome.status).toBe('rejected')
  fails = false
  expect(await Promise.all(offered())).toEqual([1, 1])
  expect(recorded).toEqual(['a', 'b'])
})
