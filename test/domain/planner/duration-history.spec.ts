import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DurationHistory } from '../../../domain/planner/duration-history.ts'

it('should know nothing of what it was never told', () => {
  const history = new DurationHistory()
  expect(history.quantile('training', 'a', 500)).toBeNull()
  history.add('debug', 'a', 60)
  expect(history.quantile('training', 'a', 500)).toBeNull()
})

it('should go by the team once it has eight, and by the class before that', () => {
  const history = new DurationHistory()
  for (let i = 0; i < 20; i++) history.add('training', 'b', 1_000)
  for (let i = 0; i < 7; i++) history.add('training', 'a', 10)
  expect(history.quantile('training', 'a', 500)).toBe(1_000)
  history.add('training', 'a', 10)
  expect(history.quantile('training', 'a', 500)).toBe(10)
  expect(history.quantile('training', 'new', 500)).toBe(1_000)
})

it('should be a quantile of the last 256 that ran longer, and survive being written down', () => {
  const runs = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 400 })
  fc.assert(
    fc.property(runs, fc.nat(999), fc.nat(500), (runs, perMille, beyond) => {
      const history = new DurationHistory()
      for (const run of runs) history.add('training', 'a', run)
      const longer = runs.slice(-256).filter((run) => run > beyond)
      longer.sort((a, b) => a - b)
      const expected = longer[Math.floor((longer.length * perMille) / 1000)] ?? null
      expect(history.quantile('training', 'a', perMille, beyond)).toBe(expected)
      const again = new DurationHistory()
      again.restore(JSON.parse(JSON.stringify(history)) as ReturnType<DurationHistory['toJSON']>)
      expect(again.quantile('training', 'a', perMille, beyond)).toBe(expected)
    }),
  )
})
