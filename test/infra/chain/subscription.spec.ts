import { either as E } from 'fp-ts'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { growth, subscription, type Growth } from '../../../infra/chain/subscription.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A log that holds as many events as it is told to, and a count of who listens to it. */
const scene = () => {
  const grown = growth()
  const seen: number[] = []
  let listeners = 0
  let size = 0
  let reads = 0
  const counted: Growth = {
    announce: grown.announce,
    tail: grown.tail,
    listen: (listener) => {
      listeners++
      const unlisten = grown.listen(listener)
      return () => {
        listeners--
        unlisten()
      }
    },
  }
  const subscribed = subscription(
    (from) => () => {
      reads++
      return Promise.resolve(E.right(from < size ? [{ position: from } as StoredEvent] : []))
    },
    counted,
    { load: () => Promise.resolve(-1), save: () => Promise.resolve() },
    (batch) => {
      for (const { position } of batch) seen.push(position)
      return Promise.resolve()
    },
  )
  return {
    subscribed,
    seen,
    grow: (to: number) => {
      size = to
      grown.announce()
    },
    append: (to: number) => {
      const appended = Array.from({ length: to - size }, (_, i) => ({ position: size + i }) as StoredEvent)
      size = to
      grown.announce(appended)
    },
    listeners: () => listeners,
    reads: () => reads,
  }
}

it('should listen once however long nothing comes, and not at all when it has stopped', async () => {
  const { subscribed, listeners, reads } = scene()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(reads()).toBeGreaterThan(500)
  expect(listeners()).toBe(1)
  await subscribed.stop()
  expect(listeners()).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

it('should wake at an announcement without waiting for its next look', async () => {
  const { subscribed, seen, grow } = scene()
  await vi.advanceTimersByTimeAsync(0)
  for (const to of [1, 2, 4]) {
    grow(to)
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(seen).toEqual([0, 1, 2, 3])
  await subscribed.stop()
})

it('should hand over what was appended here without reading it, and read what was not', async () => {
  const { subscribed, seen, grow, append, reads } = scene()
  await vi.advanceTimersByTimeAsync(0)
  const before = reads()
  append(3)
  await vi.advanceTimersByTimeAsync(0)
  expect(seen).toEqual([0, 1, 2])
  expect(reads()).toBe(before + 1) // Whether there is more.
  grow(5)
  append(7)
  await vi.advanceTimersByTimeAsync(200)
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6])
  await subscribed.stop()
})
