import { expect, it } from 'vitest'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { Tail } from '../../../infra/chain/tail.ts'

const events = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ position: from + i }) as StoredEvent)
const positions = (read: ReadonlyArray<StoredEvent> | null) => read?.map(({ position }) => position) ?? null

it('should give what it has from where it is asked, over batches, and nothing where that is gone or not there yet', () => {
  const tail = new Tail()
  expect(tail.read(0, 10)).toBeNull()
  tail.add(events(5, 8))
  tail.add([])
  tail.add(events(8, 12))
  expect(positions(tail.read(5, 2))).toEqual([5, 6])
  expect(positions(tail.read(6, 4))).toEqual([6, 7, 8, 9])
  expect(positions(tail.read(11, 10))).toEqual([11])
  expect(tail.read(4, 10)).toBeNull()
  expect(tail.read(12, 10)).toBeNull()
})

it('should forget all when somebody else has written in between', () => {
  const tail = new Tail()
  tail.add(events(0, 4))
  tail.add(events(6, 8))
  expect(tail.read(3, 10)).toBeNull()
  expect(positions(tail.read(6, 10))).toEqual([6, 7])
})

it('should keep no more than so many, however many come', () => {
  const tail = new Tail()
  for (let from = 0; from < 100_000; from += 1_000) tail.add(events(from, from + 1_000))
  expect(tail.read(80_000, 1)).toBeNull()
  expect(positions(tail.read(99_000, 1))).toEqual([99_000])
})
