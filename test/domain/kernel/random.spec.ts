import fc from 'fast-check'
import { expect, it } from 'vitest'
import { nextRandom, randomBelow, randomBoundMax } from '../../../domain/kernel/random.ts'

it('should give the same numbers from the same state, for ever', () => {
  const drawn: Array<number> = []
  for (let state = 42, i = 0; i < 4; i++) {
    const [bits, next] = nextRandom(state)
    drawn.push(bits)
    state = next
  }
  expect(drawn).toEqual([551831576, 144025891, 322543647, 3034809370])
})

it('should stay below its bound', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: randomBoundMax }), (seed, bound) => {
      const [value] = randomBelow(seed, bound)
      expect(Number.isSafeInteger(value) && value >= 0 && value < bound).toBe(true)
    }),
  )
})

it('should hit every value about as often', () => {
  const hits = new Array<number>(10).fill(0)
  let state = 7
  for (let i = 0; i < 100_000; i++) {
    const [value, next] = randomBelow(state, hits.length)
    hits[value]! += 1
    state = next
  }
  for (const hit of hits) expect(Math.abs(hit - 10_000)).toBeLessThan(500)
})
